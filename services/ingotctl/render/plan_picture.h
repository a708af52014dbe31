// A planned tree as a picture: how a broadcast runs over the machine.
#pragma once

#include <string>

#include "services/ingotctl/render/plan.h"

namespace ingot {

// An SVG. Each core has a line, grouped by package and NUMA node; time runs to the right. Bars are sends and receives,
// arrows the tree's edges with their costs, a dot is where a core has the message, with its time. What the last core
// waited for, the critical path, is red.
std::string plan_picture(const CostModel& model, const PlannedTree& plan);

}  // namespace ingot
