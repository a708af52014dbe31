// `ingotctl move`: gives a role to another voter.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_move(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
