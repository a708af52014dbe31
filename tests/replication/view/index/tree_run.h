// Runs of the small store on an ordered tree, whose writer is killed (tests/replication/view/heap/killed_run.h).
#pragma once

#include <cstdint>

#include "tests/replication/view/heap/killed_run.h"

namespace ingot::test {

RunResult run_killed_tree(const RunOptions& options);

// Options that a seed draws: short runs whose readers look at adoptions, or long ones.
inline RunOptions drawn_tree_options(std::uint64_t seed) {
  RunOptions options = drawn_options(seed);
  options.batches = options.batches * 3 / 2;
  options.readers = options.readers / 2;
  return options;
}

}  // namespace ingot::test
