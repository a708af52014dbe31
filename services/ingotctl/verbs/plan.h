// `ingotctl plan`: plans trees and predicts the costs of collectives on them.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_plan(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
