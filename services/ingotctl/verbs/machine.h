// `ingotctl machine`: measures, derives, shows and checks the costs of messages between cores.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_machine(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
