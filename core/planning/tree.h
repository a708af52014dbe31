// A rooted tree over the cores of a machine. Its children are in the order in which they are sent to.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/planning/cost_model.h"

namespace ingot::inline core_planning {

// Cores by index into the model that the tree was planned for. A plain value.
struct Tree {
  int root = 0;
  std::vector<std::vector<int>> children;  // by core; empty for leaves

  Tree() = default;
  Tree(int cores, int root_core) : root(root_core), children(static_cast<std::size_t>(cores)) {}

  int size() const { return static_cast<int>(children.size()); }
  bool operator==(const Tree&) const = default;
};

// A tree is right if the root reaches each core exactly once. Errors: INVALID_ARGUMENT with one sentence: no core, a
// root or child that does not exist, two parents, a cycle, a core that is not reached.
absl::Status validate(const Tree& tree);

// Parents by core; the root's is -1. REQUIRES: a right tree.
std::vector<int> parents_of(const Tree& tree);

// All cores, each after its parent. REQUIRES: a right tree.
std::vector<int> preorder_of(const Tree& tree);

// Puts each core's children into the best order for a broadcast: longest remaining way first. This is one-machine
// scheduling of jobs with delivery times, which that order solves exactly (Jackson's rule).
// REQUIRES: a right tree over the model's cores.
void order_children(const CostModel& model, Tree& tree);

}  // namespace ingot::core_planning
