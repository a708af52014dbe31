// `ingotctl status`: the instance and its replicas.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_status(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
