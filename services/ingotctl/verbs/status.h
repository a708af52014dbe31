// `ingotctl status`: the instance and its replicas.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot {

void register_status(CLI::App& app, Command& chosen);

}  // namespace ingot
