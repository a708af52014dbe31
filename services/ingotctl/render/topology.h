// Prints the machine and what runs on its cores as tables or JSON.
#pragma once

#include <string>

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot::inline services_ingotctl_render {

namespace control_v1 = ::ingot::control::v1;

std::string topology_json(const control_v1::GetTopologyResponse& topology);
std::string topology_table(const control_v1::GetTopologyResponse& topology);

}  // namespace ingot::services_ingotctl_render
