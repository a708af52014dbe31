// The command line of ingotd.
#pragma once

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/config/daemon_config.h"
#include "services/config/scc_config.h"

namespace ingot {

// A flag for each setting (services/config/settings.h). Both configurations get their defaults, and must outlive the
// parse.
void add_flags(CLI::App& app, DaemonConfig& config, SccConfig& scc);

// After the parse: what does not go together, as one sentence; and what follows from --scc-cores and defaults.
absl::Status settle_flags(const CLI::App& app, DaemonConfig& config, const SccConfig& scc);

}  // namespace ingot
