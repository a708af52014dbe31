// `ingotctl watch`: each change of keys, until interrupted.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot {

void register_watch(CLI::App& app, Command& chosen);

}  // namespace ingot
