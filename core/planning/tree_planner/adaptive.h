// A simulated broadcast in which every core chooses its next receiver whenever it is free: the heart of Smelt's
// planner, and where ours begins its search.
#pragma once

#include "core/planning/tree_planner/planner.h"

namespace ingot {

// A free core chooses the receiver that costs most (send and receive) of those it may choose, so that long links start
// early: cores of its own NUMA node, and in each other node that was entered less than `entries_max` times the core
// that is cheapest for it to send to. A receiver cannot be chosen twice. Smelt's rule is entries_max = 1. REQUIRES:
// entries_max >= 1. O(cores^2).
Tree grow_adaptively(const CostModel& model, int root, int entries_max);

// A simulated broadcast in which the next message is always the one that arrives first of all that could be sent.
Tree grow_by_earliest_arrival(const CostModel& model, int root);

// Each core sends to the nearest core that is left, and to nobody else: little work for everybody.
Tree grow_chain(const CostModel& model, int root);

}  // namespace ingot
