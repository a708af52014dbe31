// GNU OpenMP's own entry points, which the preloaded library calls where it does not do the work itself.
//
// Names and signatures are the ABI that GCC 12 compiles to (libgomp.so.1). Everything here is safe from any thread.
#pragma once

#include <cstddef>

namespace ingot::openmp {

using RegionFunction = void (*)(void*);

// The parameters of GOMP_task, GOMP_taskloop and the asynchronous target constructs, named once.
using CopyFunction = void (*)(void*, void*);
using TaskEntry = void(RegionFunction, void*, CopyFunction, long, long, bool, unsigned, void**, int, void*);
using TaskloopEntry = void(RegionFunction, void*, CopyFunction, long, long, unsigned, unsigned long, int, long, long,
                           long);
using TaskloopUllEntry = void(RegionFunction, void*, CopyFunction, long, long, unsigned, unsigned long, int,
                              unsigned long long, unsigned long long, unsigned long long);
using TargetEntry = void(int, RegionFunction, std::size_t, void**, std::size_t*, unsigned short*, unsigned, void**,
                         void**);
using TargetDataEntry = void(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned, void**);
using LoopRegion = void(RegionFunction, void*, unsigned, long, long, long, long, unsigned);
using RuntimeLoopRegion = void(RegionFunction, void*, unsigned, long, long, long, unsigned);

// Never null.
struct Gomp {
  void (*barrier)();
  void (*loop_end)();
  void (*loop_end_nowait)();
  void (*sections_end)();
  void (*sections_end_nowait)();
  bool (*single_start)();
  void* (*single_copy_start)();
  void (*single_copy_end)(void*);

  void (*parallel)(RegionFunction, void*, unsigned, unsigned);
  void (*parallel_sections)(RegionFunction, void*, unsigned, unsigned, unsigned);
  LoopRegion *parallel_loop_static, *parallel_loop_dynamic, *parallel_loop_guided, *parallel_loop_nonmonotonic_dynamic,
      *parallel_loop_nonmonotonic_guided;
  RuntimeLoopRegion *parallel_loop_runtime, *parallel_loop_nonmonotonic_runtime,
      *parallel_loop_maybe_nonmonotonic_runtime;

  TaskEntry* task;
  TaskloopEntry* taskloop;
  TaskloopUllEntry* taskloop_ull;
  TargetEntry* target_ext;
  TargetDataEntry *target_update_ext, *target_enter_exit_data;

  int (*level)();            // of the calling thread: enclosing parallel regions
  int (*threads)();          // of the team
  int (*thread)();           // number of the calling thread
  int (*processors)();       // that this process may use
  int (*place)();            // that the calling thread is bound to; -1: none
  int (*place_processors)(int place);
  void (*place_ids)(int place, int* ids);
};

// Looks libgomp up when first called. Aborts with one sentence if the program has no libgomp.so.1.
const Gomp& gomp();

}  // namespace ingot::openmp
