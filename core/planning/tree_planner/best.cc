// The best tree of all planners. Ours starts from the baselines and so is never worse; exact is worth its time where
// the group is small.
#include "core/planning/tree_planner/planner.h"

namespace ingot {

absl::StatusOr<Tree> plan_best(const CostModel& model, const PlanRequest& request) {
  absl::StatusOr<Tree> best = plan_ingot(model, request);
  const absl::StatusOr<Tree> exact = plan_exact(model, request);
  if (!best.ok() || !exact.ok()) return best;  // exact does not take this group, or not within this time
  const auto cost = [&](const Tree& tree) { return cost_of(predict(model, tree), request.objective); };
  // The same sum in another order is no improvement; of equal trees ours is the more even one.
  constexpr double kRounding = 1e-9;
  return cost(*exact) < cost(*best) * (1 - kRounding) ? exact : best;
}

}  // namespace ingot
