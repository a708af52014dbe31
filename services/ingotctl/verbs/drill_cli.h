// Registers `ingotctl drill` and `ingotctl move`.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/ingotctl/options.h"

namespace ingot {

// Parsing one of the commands sets `chosen` to a function that runs it. `chosen` must outlive the parse.
void add_drill_commands(CLI::App& app, std::function<absl::Status(const CtlOptions&)>& chosen);

}  // namespace ingot
