// What a verb of ingotctl registers with the command line.
//
// verbs/NAME.h declares register_NAME(app, chosen), which adds the verb's subcommands, flags and help. Parsing one of
// them sets `chosen` to the function that runs it. `app` and `chosen` must outlive the parse.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/ingotctl/options.h"

namespace ingot::inline services_ingotctl {

// Prints to standard output; errors are one sentence.
using Command = std::function<absl::Status(const CtlOptions&)>;

// Adds -o for a verb that prints other forms than table and json. `output` holds the default.
void add_form(CLI::App& command, std::string& output, const std::vector<std::string>& forms, const std::string& help);

}  // namespace ingot::services_ingotctl
