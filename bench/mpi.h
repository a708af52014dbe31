// The MPI libraries to compare with, loaded at run time, so that the benches can be built and show their help where
// there is none.
//
// An ABI is a library's own, not MPI's: Open MPI's handles are addresses of its objects (libmpi.so.40: versions 4 and
// 5), MPICH's are fixed numbers (libmpich.so.12: versions 3 and 4).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot::bench {

enum class MpiKind { kOpenMpi, kMpich };

// Of the communicator of all ranks. By default errors end the program, with the library's own message.
class Mpi {
 public:
  virtual ~Mpi() = default;

  virtual void init() = 0;
  virtual void finalize() = 0;
  virtual int rank() = 0;
  virtual int size() = 0;

  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  // The root's data becomes the sum of all. MPICH's becomes `scratch`, which is as long: in place, version 4.0.2 fails
  // from 4 KiB on.
  virtual void reduce(std::span<double> data, std::span<double> scratch, int root) = 0;
  virtual void allreduce(std::span<double> data) = 0;  // in place

  // Memory that all ranks of one machine share, by rank: `bytes` for each, not aligned, zero-filled.
  virtual std::vector<std::byte*> share(std::size_t bytes) = 0;
};

// Errors: NOT_FOUND with one sentence.
absl::StatusOr<std::unique_ptr<Mpi>> load_mpi(MpiKind kind);

}  // namespace ingot::bench
