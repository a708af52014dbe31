// `ingotctl scc`: the simulated chip below a daemon (ingotd --backend=scc).
#pragma once

#include "services/ingotctl/command.h"

namespace ingot {

void register_scc(CLI::App& app, Command& chosen);

}  // namespace ingot
