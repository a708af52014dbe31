// Random trees.
#pragma once

#include <utility>
#include <vector>

#include "core/planning/tree.h"
#include "core/prng.h"

namespace ingot::test {

// Any root; each other core under any core in the tree already, children in the order of their addition.
inline Tree random_tree(int cores, Prng& prng) {
  std::vector<int> order;
  for (int core = 0; core < cores; ++core) order.push_back(core);
  for (int i = cores - 1; i > 0; --i) std::swap(order[i], order[prng.below(static_cast<std::uint64_t>(i) + 1)]);
  Tree tree(cores, order[0]);
  for (int i = 1; i < cores; ++i) {
    tree.children[order[prng.below(static_cast<std::uint64_t>(i))]].push_back(order[i]);
  }
  return tree;
}

}  // namespace ingot::test
