// The command lines of `ingotctl drill` and `ingotctl move`.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/ingotctl/options.h"

namespace ingot {

// `chosen` becomes the command that the command line asks for, and outlives the parse.
void add_drill_commands(CLI::App& app, std::function<absl::Status(const CtlOptions&)>& chosen);

}  // namespace ingot
