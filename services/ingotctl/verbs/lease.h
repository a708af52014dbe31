// `ingotctl lease`: keys that vanish unless somebody keeps them alive.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_lease(CLI::App& app, Command& chosen);

// Adds a flag or argument for a lease's id, which must outlive the parse.
CLI::Option* add_lease(CLI::App& command, const std::string& name, std::int64_t& id, const std::string& help);

}  // namespace ingot::services_ingotctl_verbs
