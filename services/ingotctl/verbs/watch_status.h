// `ingotctl watch-status`: each new status, until interrupted.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_watch_status(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
