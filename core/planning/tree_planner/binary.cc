// A complete binary tree, filled level by level.
#include "core/planning/tree_planner/core_order.h"

namespace ingot::inline core_planning_tree_planner {

absl::StatusOr<Tree> plan_binary(const CostModel& model, const PlanRequest& request) {
  const std::vector<int> order = root_first(model, request);
  Tree tree(model.size(), order.front());
  for (std::size_t i = 1; i < order.size(); ++i) tree.children[order[(i - 1) / 2]].push_back(order[i]);
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
