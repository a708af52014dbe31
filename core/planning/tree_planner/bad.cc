// A bad tree for comparison: the spanning tree of the dearest edges, which crosses between NUMA nodes all the time.
#include "core/planning/tree_planner/prim.h"

namespace ingot::inline core_planning_tree_planner {

absl::StatusOr<Tree> plan_bad(const CostModel& model, const PlanRequest& request) {
  return grow_tree(model, request.root.value_or(0), Prefer::kDearest);
}

}  // namespace ingot::core_planning_tree_planner
