// A simulated broadcast in which every core chooses its next receiver whenever it is free: the core of Smelt's planner,
// and the start of Ingot's search.
#pragma once

#include "core/planning/tree_planner/planner.h"

namespace ingot::inline core_planning_tree_planner {

// A free core chooses, among the receivers that it may choose, the one that costs most (send and receive), so that long
// links start early. It may choose cores of its own NUMA node and, in each other node that was entered less than
// `entries_max` times, the core that is cheapest for it to send to. Each receiver is chosen once. Smelt's rule is
// entries_max = 1. O(cores^2).
// REQUIRES: entries_max >= 1.
Tree grow_adaptively(const CostModel& model, int root, int entries_max);

// A simulated broadcast whose next message is always the one, of all that could be sent, that arrives first.
Tree grow_by_earliest_arrival(const CostModel& model, int root);

// Each core sends only to the nearest core that is left: a chain, with little work for each core.
Tree grow_chain(const CostModel& model, int root);

}  // namespace ingot::core_planning_tree_planner
