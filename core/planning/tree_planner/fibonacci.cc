// A Fibonacci tree: a binary tree whose second subtree is one generation younger than its first, because its message is
// sent one send later. F(k) is a core above F(k - 1) and F(k - 2); sizes in between are split in the same proportion.
#include <cstddef>
#include <span>

#include "core/planning/tree_planner/core_order.h"

namespace ingot::inline core_planning_tree_planner {
namespace {

// How many of `below` cores go into the first subtree.
std::size_t first_share(std::size_t below) {
  std::size_t first = 1, second = 0;  // sizes of F(k - 1) and F(k - 2)
  while (first + second < below) {
    const std::size_t next = 1 + first + second;
    second = first;
    first = next;
  }
  return (below * first + (first + second) / 2) / (first + second);
}

// Hangs the cores of a subtree below its top, the first of `cores`. The recursion is as deep as the tree: logarithmic.
void hang(std::span<const int> cores, Tree& tree) {
  const std::span<const int> below = cores.subspan(1);
  if (below.empty()) return;
  const std::size_t split = first_share(below.size());
  for (const auto part : {below.first(split), below.subspan(split)}) {
    if (part.empty()) continue;
    tree.children[cores.front()].push_back(part.front());
    hang(part, tree);
  }
}

}  // namespace

absl::StatusOr<Tree> plan_fibonacci(const CostModel& model, const PlanRequest& request) {
  const std::vector<int> order = root_first(model, request);
  Tree tree(model.size(), order.front());
  hang(order, tree);
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
