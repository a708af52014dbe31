// Prints drills as tables or JSON.
#pragma once

#include <string>

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot::inline services_ingotctl_render {

namespace control_v1 = ::ingot::control::v1;

// "replica", "front-end" or "supervisor".
std::string process_name(control_v1::Hit::Process process);

// One line of JSON: {"action","hits":[{"process","id","pid","incarnation","role"}],"outage":{"gap_ms","writes"}}; id,
// incarnation and role are null for other processes than replicas, and outage is null if it was not measured.
std::string drill_json(const std::string& action, const control_v1::DrillResponse& told);

// A table of the hits.
std::string drill_table(const control_v1::DrillResponse& told);

// "no write was committed for 1.234 ms (3 empty transactions, ...)".
std::string outage_line(const control_v1::Outage& outage);

}  // namespace ingot::services_ingotctl_render
