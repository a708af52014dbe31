// `ingotctl move`: gives a role to another voter.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot {

void register_move(CLI::App& app, Command& chosen);

}  // namespace ingot
