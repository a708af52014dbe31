// The entry points of GNU OpenMP that this library replaces. The rest of libgomp stays as it is.
//
// Barriers: explicit ones, and those at the end of `for`, `sections` and `single`, go through entry points of their
// own, so they can be replaced: a loop's end is libgomp's end without a barrier, then this library's barrier. The ends
// of parallel regions are part of libgomp's thread pool, and threads may leave a cancellable barrier without the
// others: both stay libgomp's. docs/openmp.md lists them.
#include <cstddef>

#include "client/openmp/gomp.h"
#include "client/openmp/team.h"

namespace {

using namespace ingot::openmp;

void before_task() {
  // Even if another region stands between: then a task too many is announced, which does no harm.
  if (Member* const member = current_member()) announce_task(*member);
}

}  // namespace

extern "C" {

void GOMP_barrier() {
  Member* const member = current_member();
  if (member == nullptr) return gomp().barrier();
  meet(*member);
}

void GOMP_loop_end() {
  Member* const member = current_member();
  if (member == nullptr) return gomp().loop_end();
  gomp().loop_end_nowait();
  meet(*member);
}

void GOMP_sections_end() {
  Member* const member = current_member();
  if (member == nullptr) return gomp().sections_end();
  gomp().sections_end_nowait();
  meet(*member);
}

// `single copyprivate`: one thread gets null, runs the block and passes the address of its values to
// GOMP_single_copy_end; the others get that address. The compiler adds a barrier after it, so one place for the address
// is enough.
void* GOMP_single_copy_start() {
  Member* const member = current_member();
  if (member == nullptr) return gomp().single_copy_start();
  if (gomp().single_start()) return nullptr;
  meet(*member);
  return copied(*member);
}

void GOMP_single_copy_end(void* data) {
  Member* const member = current_member();
  if (member == nullptr) return gomp().single_copy_end(data);
  copied(*member) = data;
  meet(*member);
}

void GOMP_parallel(RegionFunction function, void* data, unsigned threads, unsigned flags) {
  run_region(gomp().parallel, function, data, threads, flags);
}

void GOMP_parallel_sections(RegionFunction function, void* data, unsigned threads, unsigned count, unsigned flags) {
  run_region(gomp().parallel_sections, function, data, threads, count, flags);
}

#define INGOT_LOOP_REGION(name)                                                                               \
  void GOMP_##name(RegionFunction function, void* data, unsigned threads, long start, long end, long step,   \
                   long chunk, unsigned flags) {                                                              \
    run_region(gomp().name, function, data, threads, start, end, step, chunk, flags);                         \
  }
INGOT_LOOP_REGION(parallel_loop_static)
INGOT_LOOP_REGION(parallel_loop_dynamic)
INGOT_LOOP_REGION(parallel_loop_guided)
INGOT_LOOP_REGION(parallel_loop_nonmonotonic_dynamic)
INGOT_LOOP_REGION(parallel_loop_nonmonotonic_guided)
#undef INGOT_LOOP_REGION

#define INGOT_RUNTIME_LOOP_REGION(name)                                                                       \
  void GOMP_##name(RegionFunction function, void* data, unsigned threads, long start, long end, long step,   \
                   unsigned flags) {                                                                          \
    run_region(gomp().name, function, data, threads, start, end, step, flags);                                \
  }
INGOT_RUNTIME_LOOP_REGION(parallel_loop_runtime)
INGOT_RUNTIME_LOOP_REGION(parallel_loop_nonmonotonic_runtime)
INGOT_RUNTIME_LOOP_REGION(parallel_loop_maybe_nonmonotonic_runtime)
#undef INGOT_RUNTIME_LOOP_REGION

void GOMP_task(RegionFunction function, void* data, CopyFunction copy, long bytes, long align, bool deferred,
               unsigned flags, void** depend, int priority, void* detach) {
  before_task();
  gomp().task(function, data, copy, bytes, align, deferred, flags, depend, priority, detach);
}

void GOMP_taskloop(RegionFunction function, void* data, CopyFunction copy, long bytes, long align, unsigned flags,
                   unsigned long tasks, int priority, long start, long end, long step) {
  before_task();
  gomp().taskloop(function, data, copy, bytes, align, flags, tasks, priority, start, end, step);
}

void GOMP_taskloop_ull(RegionFunction function, void* data, CopyFunction copy, long bytes, long align, unsigned flags,
                       unsigned long tasks, int priority, unsigned long long start, unsigned long long end,
                       unsigned long long step) {
  before_task();
  gomp().taskloop_ull(function, data, copy, bytes, align, flags, tasks, priority, start, end, step);
}

// With `nowait` these are tasks, too.
void GOMP_target_ext(int device, RegionFunction function, std::size_t maps, void** addresses, std::size_t* sizes,
                     unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  before_task();
  gomp().target_ext(device, function, maps, addresses, sizes, kinds, flags, depend, arguments);
}

void GOMP_target_update_ext(int device, std::size_t maps, void** addresses, std::size_t* sizes, unsigned short* kinds,
                            unsigned flags, void** depend) {
  before_task();
  gomp().target_update_ext(device, maps, addresses, sizes, kinds, flags, depend);
}

void GOMP_target_enter_exit_data(int device, std::size_t maps, void** addresses, std::size_t* sizes,
                                 unsigned short* kinds, unsigned flags, void** depend) {
  before_task();
  gomp().target_enter_exit_data(device, maps, addresses, sizes, kinds, flags, depend);
}

}  // extern "C"
