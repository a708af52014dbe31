// A simulated chip's loads as a picture, a table or JSON.
#pragma once

#include <string>

#include "proto/ingot/control/v1/scc.pb.h"

namespace ingot {

// An SVG of the mesh: tiles coloured by the load of their message buffers' port, an arrow for each link coloured by its
// packets, controllers by their lines, and what runs on which core.
std::string chip_picture(const ::ingot::control::v1::GetChipResponse& chip);

// Tables of cores that run something, ports, links and latencies; what carried nothing is left out.
std::string chip_table(const ::ingot::control::v1::GetChipResponse& chip);

// One line of JSON: {"virtual_ns","core_cycles","rounds","clocks","seed","trace_hash","cores":[...],"mpb_ports":[...],
// "memory_controllers":[...],"links":[...],"latencies":[...],"energy_uj":{...}}.
std::string chip_json(const ::ingot::control::v1::GetChipResponse& chip);

}  // namespace ingot
