// `ingotctl alarm list` and `alarm disarm`: the alarm that refuses puts.
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

// Registers both.
void register_alarm(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
