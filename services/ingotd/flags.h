// The command line of ingotd.
#pragma once

#include <CLI/CLI.hpp>

#include "services/config/daemon_config.h"

namespace ingot {

// Every flag with its default, its check and its environment variable (INGOT_...). Flags win over the environment.
// `config` must outlive the parse.
void add_flags(CLI::App& app, DaemonConfig& config);

}  // namespace ingot
