// `ingotctl plan`: plans trees and predicts the costs of collectives on them.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot {

void register_plan(CLI::App& app, Command& chosen);

}  // namespace ingot
