// Prints machine files as tables or JSON.
#pragma once

#include <string>

#include "core/planning/cost_model.h"

namespace ingot::inline services_ingotctl_render {

// Costs by distance (same NUMA node, same package, other package): number of pairs, minimum, median and maximum; then
// how far the two directions of a pair differ.
std::string machine_table(const CostModel& model);

// {"machine","cores","packages","numa_nodes","frequency_hz","distances":[...],"asymmetry":{...}}
std::string machine_json(const CostModel& model);

}  // namespace ingot::services_ingotctl_render
