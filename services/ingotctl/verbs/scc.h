// `ingotctl scc`: the simulated chip below a daemon (ingotd --backend=scc).
#pragma once

#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_scc(CLI::App& app, Command& chosen);

}  // namespace ingot::services_ingotctl_verbs
