// `ingotctl get`, `put` and `del`: keys and their values.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

// Registers all three.
void register_kv(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
