// `ingotctl elect`: leads with a value until it is interrupted, or shows who leads.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_elect(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
