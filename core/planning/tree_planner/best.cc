// The best tree of all planners. `ingot` starts from the baselines, so it is never worse than they are; `exact` is used
// where the group is small.
#include "core/planning/tree_planner/planner.h"

namespace ingot::inline core_planning_tree_planner {

absl::StatusOr<Tree> plan_best(const CostModel& model, const PlanRequest& request) {
  absl::StatusOr<Tree> best = plan_ingot(model, request);
  const absl::StatusOr<Tree> exact = plan_exact(model, request);
  if (!best.ok() || !exact.ok()) return best;  // exact refuses groups of this size, or ran out of time
  const auto cost = [&](const Tree& tree) { return cost_of(predict(model, tree), request.objective); };
  // The same sum in another order is no improvement; of equally good trees, ingot's is more even.
  constexpr double kRounding = 1e-9;
  return cost(*exact) < cost(*best) * (1 - kRounding) ? exact : best;
}

}  // namespace ingot::core_planning_tree_planner
