// Planners: pure functions from a machine's costs to a tree over all cores of the model (restrict_to makes the model of
// a group). They have no clock and no randomness of their own: equal requests give equal trees, unless
// Budget::out_of_time ends a search.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/planning/cost_model.h"
#include "core/planning/limits.h"
#include "core/planning/tree.h"
#include "core/planning/tree_prediction.h"

namespace ingot::inline core_planning_tree_planner {

// The effort of a planner that searches; when it is used up, the planner returns the best tree so far. Planners that do
// not search ignore it.
struct Budget {
  std::int64_t evaluations = 0;       // trees evaluated; 0: default_evaluations() of the number of cores
  std::function<bool()> out_of_time;  // null: never; called now and then on the caller's thread
};

constexpr std::int64_t default_evaluations(int cores) {
  return cores <= kPlanFewCores ? kPlanEvaluationsFewCores : kPlanEvaluationsManyCores;
}

struct PlanRequest {
  Objective objective = Objective::kBroadcast;
  std::optional<int> root{};  // core index; absent: the planner chooses
  std::uint64_t seed = 1;
  Budget budget{};
};

// REQUIRES: a model that validate() accepts, and a root within it.
// Errors: OUT_OF_RANGE (`exact`: too many cores), DEADLINE_EXCEEDED (`exact`: the budget ended before it was done).
using PlanFunction = absl::StatusOr<Tree> (*)(const CostModel& model, const PlanRequest& request);

struct Planner {
  const char* name;
  PlanFunction plan;
  const char* help;
};

// All planners; baselines first, `best` last.
std::span<const Planner> planners();

// Null: no such planner.
const Planner* find_planner(std::string_view name);

// The fixed shapes, which ignore costs. Without a given root, the root is the first core; the other cores follow in the
// model's order.
absl::StatusOr<Tree> plan_binary(const CostModel& model, const PlanRequest& request);
absl::StatusOr<Tree> plan_fibonacci(const CostModel& model, const PlanRequest& request);
absl::StatusOr<Tree> plan_sequential(const CostModel& model, const PlanRequest& request);
absl::StatusOr<Tree> plan_cluster(const CostModel& model, const PlanRequest& request);

// Shapes made from costs. Without a given root, the root is the first core as well.
absl::StatusOr<Tree> plan_mst(const CostModel& model, const PlanRequest& request);
absl::StatusOr<Tree> plan_bad(const CostModel& model, const PlanRequest& request);

// Planners that choose their root.
absl::StatusOr<Tree> plan_smelt(const CostModel& model, const PlanRequest& request);
absl::StatusOr<Tree> plan_exact(const CostModel& model, const PlanRequest& request);
absl::StatusOr<Tree> plan_ingot(const CostModel& model, const PlanRequest& request);
absl::StatusOr<Tree> plan_best(const CostModel& model, const PlanRequest& request);

}  // namespace ingot::core_planning_tree_planner
