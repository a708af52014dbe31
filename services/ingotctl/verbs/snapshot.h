// `ingotctl snapshot save` and `snapshot status`: backups of an instance's state.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

// Registers both.
void register_snapshot(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
