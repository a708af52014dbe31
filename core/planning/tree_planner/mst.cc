// The minimum spanning tree: least total cost, whatever its shape.
#include "core/planning/tree_planner/prim.h"

namespace ingot::inline core_planning_tree_planner {

absl::StatusOr<Tree> plan_mst(const CostModel& model, const PlanRequest& request) {
  return grow_tree(model, request.root.value_or(0), Prefer::kCheapest);
}

}  // namespace ingot::core_planning_tree_planner
