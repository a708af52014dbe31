// `ingotctl lock`: holds a lock, while a command runs or until it is interrupted.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_lock(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
