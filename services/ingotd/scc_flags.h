// The flags of ingotd that are for --backend=scc only.
#pragma once

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/config/daemon_config.h"
#include "services/scc/scc_config.h"

namespace ingot {

// `scc` must outlive the parse.
void add_scc_flags(CLI::App& app, SccConfig& scc);

// After the parse: what does not go together, as one sentence; and what follows from --scc-cores and defaults.
absl::Status settle_scc_flags(const CLI::App& app, DaemonConfig& config, const SccConfig& scc);

}  // namespace ingot
