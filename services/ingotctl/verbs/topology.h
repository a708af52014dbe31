// `ingotctl topology`: the machine's cores and caches and what runs on which.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot {

void register_topology(CLI::App& app, Command& chosen);

}  // namespace ingot
