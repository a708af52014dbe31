// Compares barriers between the threads of one process: the tree barrier, pthread's and GNU OpenMP's, in turns.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot::bench {

struct BarrierOptions {
  int threads = 2;        // each bound to a core of its own, if there are enough
  int repetitions = 300;  // of every kind, in turns
  int barriers = 500;     // in one repetition
};

struct BarrierSeries {
  std::string kind;        // "tree", "pthread" or "gnu_openmp"
  std::vector<double> ns;  // of one barrier, by repetition
};

// Returns the tree first. Errors: INTERNAL (the machine cannot be read).
absl::StatusOr<std::vector<BarrierSeries>> race_barriers(const BarrierOptions& options);

}  // namespace ingot::bench
