// `ingotctl drill`: kills, stops or continues a process.
#pragma once

#include <optional>
#include <string>

#include "proto/ingot/control/v1/control.pb.h"
#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

// The target that `text` names; nothing if there is no such target.
std::optional<::ingot::control::v1::DrillRequest> parse_target(const std::string& text);

void register_drill(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
