// The order of the cores in planners that ignore costs.
#pragma once

#include <vector>

#include "core/planning/tree_planner/planner.h"

namespace ingot::inline core_planning_tree_planner {

// The root, then all other cores in the model's order.
inline std::vector<int> root_first(const CostModel& model, const PlanRequest& request) {
  std::vector<int> order{request.root.value_or(0)};
  for (int core = 0; core < model.size(); ++core) {
    if (core != order.front()) order.push_back(core);
  }
  return order;
}

}  // namespace ingot::core_planning_tree_planner
