// The shortest run of a seed that still fails.
#pragma once

#include "tests/simulation/plan.h"
#include "tests/simulation/world.h"

namespace ingot::simulation {

// What is left of a seed: its first faults and its first writes. `outcome` is that run's, with its trace.
struct Shrunk {
  Options options;
  Outcome outcome;
};

// REQUIRES: run(options) fails. Runs it again and again, with fewer faults, then with fewer writes, as long as it
// fails; how it fails may change.
Shrunk shrink(Options options);

}  // namespace ingot::simulation
