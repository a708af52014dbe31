// Draws a simulated chip's loads.
#pragma once

#include <string>

#include "proto/ingot/control/v1/scc.pb.h"

namespace ingot::inline services_ingotctl_render {

// An SVG of the mesh: tiles coloured by the load of their MPB port, an arrow for each link coloured by its packets,
// controllers with their lines, and the program of each core.
std::string chip_picture(const ::ingot::control::v1::GetChipResponse& chip);

}  // namespace ingot::services_ingotctl_render
