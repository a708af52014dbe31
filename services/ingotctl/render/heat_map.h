// Draws a machine's costs as a picture.
#pragma once

#include <string>

#include "core/planning/cost_model.h"

namespace ingot::inline services_ingotctl_render {

// An SVG with two matrices, sends and receives: row sender, column receiver, darker is dearer; lines between packages
// and between NUMA nodes.
std::string heat_map(const CostModel& model);

}  // namespace ingot::services_ingotctl_render
