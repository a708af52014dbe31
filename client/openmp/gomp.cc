#include "client/openmp/gomp.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ingot::openmp {
namespace {

// The library that the program has loaded. One loaded by dlopen is not in the global scope.
void* open_libgomp() {
  if (void* library = ::dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD)) return library;
  return RTLD_NEXT;
}

template <typename Function>
void find(void* library, const char* name, Function*& entry) {
  entry = reinterpret_cast<Function*>(::dlsym(library, name));
  if (entry != nullptr) return;
  std::fprintf(stderr, "ingot openmp: there is no %s in this program's libgomp.so.1; run it without "
               "libingot_openmp.so in LD_PRELOAD\n", name);
  std::abort();
}

void find_regions(void* library, Gomp& g) {
  find(library, "GOMP_parallel", g.parallel);
  find(library, "GOMP_parallel_sections", g.parallel_sections);
  find(library, "GOMP_parallel_loop_static", g.parallel_loop_static);
  find(library, "GOMP_parallel_loop_dynamic", g.parallel_loop_dynamic);
  find(library, "GOMP_parallel_loop_guided", g.parallel_loop_guided);
  find(library, "GOMP_parallel_loop_nonmonotonic_dynamic", g.parallel_loop_nonmonotonic_dynamic);
  find(library, "GOMP_parallel_loop_nonmonotonic_guided", g.parallel_loop_nonmonotonic_guided);
  find(library, "GOMP_parallel_loop_runtime", g.parallel_loop_runtime);
  find(library, "GOMP_parallel_loop_nonmonotonic_runtime", g.parallel_loop_nonmonotonic_runtime);
  find(library, "GOMP_parallel_loop_maybe_nonmonotonic_runtime", g.parallel_loop_maybe_nonmonotonic_runtime);
}

Gomp find_all() {
  Gomp g{};
  void* const library = open_libgomp();
  find(library, "GOMP_barrier", g.barrier);
  find(library, "GOMP_loop_end", g.loop_end);
  find(library, "GOMP_loop_end_nowait", g.loop_end_nowait);
  find(library, "GOMP_sections_end", g.sections_end);
  find(library, "GOMP_sections_end_nowait", g.sections_end_nowait);
  find(library, "GOMP_single_start", g.single_start);
  find(library, "GOMP_single_copy_start", g.single_copy_start);
  find(library, "GOMP_single_copy_end", g.single_copy_end);
  find_regions(library, g);
  find(library, "GOMP_task", g.task);
  find(library, "GOMP_taskloop", g.taskloop);
  find(library, "GOMP_taskloop_ull", g.taskloop_ull);
  find(library, "GOMP_target_ext", g.target_ext);
  find(library, "GOMP_target_update_ext", g.target_update_ext);
  find(library, "GOMP_target_enter_exit_data", g.target_enter_exit_data);
  find(library, "omp_get_level", g.level);
  find(library, "omp_get_num_threads", g.threads);
  find(library, "omp_get_thread_num", g.thread);
  find(library, "omp_get_num_procs", g.processors);
  find(library, "omp_get_place_num", g.place);
  find(library, "omp_get_place_num_procs", g.place_processors);
  find(library, "omp_get_place_proc_ids", g.place_ids);
  return g;
}

}  // namespace

const Gomp& gomp() {
  static const Gomp all = find_all();
  return all;
}

}  // namespace ingot::openmp
