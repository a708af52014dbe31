// Every rooted tree over a few cores, once.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "core/planning/tree.h"

namespace ingot::inline core_planning_tree_planner {

// Calls `visit` with each labelled tree over cores 0 .. cores-1 under each of these roots: cores^(cores-2) trees a
// root. `visit` may reorder children; it returns false to stop. Returns false if it was stopped.
bool for_all_trees(int cores, const std::vector<int>& roots, absl::FunctionRef<bool(Tree&)> visit);

}  // namespace ingot::core_planning_tree_planner
