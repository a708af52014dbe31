// Draws a planned tree: how a broadcast runs over the machine.
#pragma once

#include <string>

#include "services/ingotctl/render/plan.h"

namespace ingot::inline services_ingotctl_render {

// An SVG. Each core has a lane, grouped by package and NUMA node; time runs to the right. Bars are sends and receives,
// arrows the tree's edges with their costs; a dot marks when a core has the message. The critical path, which
// determines the latency, is red.
std::string plan_picture(const CostModel& model, const PlannedTree& plan);

}  // namespace ingot::services_ingotctl_render
