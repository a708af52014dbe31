// The shortest run of a seed that still fails.
#pragma once

#include "tests/simulation/plan.h"
#include "tests/simulation/world.h"

namespace ingot::simulation {

// The shortened seed: its first faults and its first writes. `outcome` is that run's, with its trace.
struct Shrunk {
  Options options;
  Outcome outcome;
};

// Runs the seed again with fewer faults, then with fewer writes, as long as it fails. The violation may be another one
// in a shorter run. REQUIRES: run(options) fails.
Shrunk shrink(Options options);

}  // namespace ingot::simulation
