// Many seeds, on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/simulation/plan.h"
#include "tests/simulation/world.h"

namespace ingot::simulation {

struct Failure {
  std::uint64_t seed = 0;
  std::string violation;
};

struct SweepResult {
  std::uint64_t seeds = 0;  // that were run
  Tally tally;
  std::vector<Failure> failures;  // by seed
  double seconds = 0;
};

// Runs the seeds options.seed .. options.seed + count - 1, each as `options` says otherwise, on `jobs` threads. Once
// `failures_max` have failed, no further seed is begun.
SweepResult sweep(const Options& options, std::uint64_t count, int jobs, std::size_t failures_max);

}  // namespace ingot::simulation
