// The command line of ingotd.
#pragma once

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/config/daemon_config.h"
#include "services/config/scc_config.h"

namespace ingot::inline services_ingotd {

// Adds a flag for each setting (services/config/settings.h). Both configurations get their defaults, and must outlive
// the parse.
void add_flags(CLI::App& app, DaemonConfig& config, SccConfig& scc);

// To be called after the parse: applies empty variables, and derives settings from --scc-cores and from defaults.
// Errors: INVALID_ARGUMENT with one sentence that names settings that do not go together.
absl::Status settle_flags(const CLI::App& app, DaemonConfig& config, SccConfig& scc);

}  // namespace ingot::services_ingotd
