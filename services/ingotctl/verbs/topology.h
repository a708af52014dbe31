// `ingotctl topology`: the machine's cores and caches and what runs on which.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_topology(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
