// `ingotctl get`, `put` and `del`: keys and their values.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot {

// Registers all three.
void register_kv(CLI::App& app, Command& chosen);

}  // namespace ingot
