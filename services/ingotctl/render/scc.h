// Prints a simulated chip's loads as tables or JSON.
#pragma once

#include <string>

#include "proto/ingot/control/v1/scc.pb.h"

namespace ingot::inline services_ingotctl_render {

// Tables of cores that run a program, ports, links and latencies; without rows for idle ports and links.
std::string chip_table(const ::ingot::control::v1::GetChipResponse& chip);

// One line of JSON: {"virtual_ns","core_cycles","rounds","clocks","seed","trace_hash","cores":[...],"mpb_ports":[...],
// "memory_controllers":[...],"links":[...],"latencies":[...],"energy_uj":{...}}.
std::string chip_json(const ::ingot::control::v1::GetChipResponse& chip);

}  // namespace ingot::services_ingotctl_render
