// Prim's algorithm on the directed costs of messages: the tree grows from its root by the best edge that leaves it.
#pragma once

#include "core/planning/tree_planner/planner.h"

namespace ingot::inline core_planning_tree_planner {

enum class Prefer { kCheapest, kDearest };

// O(cores^2). Children stand in the order in which they were added; ties go to the lower core.
Tree grow_tree(const CostModel& model, int root, Prefer prefer);

}  // namespace ingot::core_planning_tree_planner
