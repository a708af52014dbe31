// `ingotctl scc`: the simulated chip below a daemon (ingotd --backend=scc).
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/ingotctl/options.h"

namespace ingot {

// Adds "scc" with "heatmap".
void add_scc_commands(CLI::App& app, std::function<absl::Status(const CtlOptions&)>& chosen);

}  // namespace ingot
