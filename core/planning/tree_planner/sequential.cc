// A star: the root sends to all others in turn.
#include "core/planning/tree_planner/core_order.h"

namespace ingot::inline core_planning_tree_planner {

absl::StatusOr<Tree> plan_sequential(const CostModel& model, const PlanRequest& request) {
  const std::vector<int> order = root_first(model, request);
  Tree tree(model.size(), order.front());
  tree.children[tree.root].assign(order.begin() + 1, order.end());
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
