// Collectives between two processes: Ingot's over the shared-memory transport and an MPI's, in turns in the same two.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "bench/mpi.h"
#include "transport/collectives/schedule_limits.h"

namespace ingot::bench {

struct RankOptions {
  int repetitions = 200;  // of every kind, in turns
  int sample_us = 200;    // about how long one repetition of one contender takes
  std::vector<std::size_t> bytes = {8, 64, 256, 1024, 4096, 16 * 1024, 256 * 1024};
  std::string transport = "nvp";
  std::size_t one_copy_bytes = kOneCopyBytes;  // payloads that "one_copy" copies from memory to memory
  std::size_t chunk_bytes = kChunkBytes;       // of "one_copy"
  MpiKind mpi = MpiKind::kOpenMpi;
};

struct RankSeries {
  std::string operation;  // "barrier", "broadcast", "reduction", "allreduce"
  std::size_t bytes = 0;
  // "open_mpi", "mpich", "schedule" (transport/collectives, through lines only), "one_copy" (likewise, with long
  // payloads copied from memory to memory) or "tree_lines" (transport/collectives/tree_collectives.h).
  std::string contender;
  std::vector<double> ns;  // of one operation, by repetition
};

// Called in each of two processes that mpirun has started; `report` is called in rank 0 only, with all contenders of
// one operation, the MPI's first. Roots alternate, so that each operation waits for the one before. Errors: NOT_FOUND
// (no such MPI), FAILED_PRECONDITION (not two ranks), INTERNAL (a wrong result).
absl::Status race_as_rank(const RankOptions& options,
                          absl::FunctionRef<void(const std::vector<RankSeries>&)> report);

}  // namespace ingot::bench
