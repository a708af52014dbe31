// Open MPI, loaded at run time, so that the bench can be built and shows its help where Open MPI is not installed.
//
// Handles are the addresses of the library's own objects, which is Open MPI's ABI (libmpi.so.40: its versions 4 and 5),
// not MPI's in general.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace ingot::bench {

// Functions return 0 for success; by default errors end the program, with MPI's own message.
struct OpenMpi {
  int (*init)(int*, char***);
  int (*finalize)();
  int (*rank)(void* comm, int* rank);
  int (*size)(void* comm, int* size);
  int (*barrier)(void* comm);
  int (*broadcast)(void* data, int count, void* type, int root, void* comm);
  int (*reduce)(const void* in, void* out, int count, void* type, void* op, int root, void* comm);
  int (*allreduce)(const void* in, void* out, int count, void* type, void* op, void* comm);
  // Memory that all ranks of one machine share: `bytes` for each, `start` of this rank's part, not aligned.
  int (*allocate_shared)(long bytes, int unit, void* info, void* comm, void* start, void** window);
  int (*query_shared)(void* window, int rank, long* bytes, int* unit, void* start);
  int (*version)(char* text, int* length);

  void *world, *byte_type, *double_type, *sum, *no_info;
  static inline void* const kInPlace = reinterpret_cast<void*>(1);
};

// Errors: NOT_FOUND with one sentence.
absl::StatusOr<OpenMpi> open_mpi();

}  // namespace ingot::bench
