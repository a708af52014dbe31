// Collectives between two processes: Ingot's over the shared-memory transport and Open MPI's, in turns in the same two.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace ingot::bench {

struct RankOptions {
  int repetitions = 200;  // of every kind, in turns
  int sample_us = 200;    // about how long one repetition of one contender takes
  std::vector<std::size_t> bytes = {8, 64, 256, 1024, 4096, 16 * 1024, 256 * 1024};
  std::string transport = "nvp";
};

struct RankSeries {
  std::string operation;  // "barrier", "broadcast", "reduction", "allreduce"
  std::size_t bytes = 0;
  std::string contender;   // "open_mpi", "schedule" (transport/collectives) or "tree_lines" (transport/tree_*.h)
  std::vector<double> ns;  // of one operation, by repetition
};

// Called in each of two processes that mpirun has started; `report` is called in rank 0 only, with all contenders of
// one operation, Open MPI first. Roots alternate, so that each operation waits for the one before. Errors: NOT_FOUND
// (no Open MPI), FAILED_PRECONDITION (not two ranks), INTERNAL (a wrong result).
absl::Status race_as_rank(const RankOptions& options,
                          absl::FunctionRef<void(const std::vector<RankSeries>&)> report);

}  // namespace ingot::bench
