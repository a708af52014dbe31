// `ingotctl watch`: each change of keys, until interrupted.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_watch(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
