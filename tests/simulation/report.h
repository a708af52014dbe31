// The report of a sweep, as text and as JSON.
#pragma once

#include <string>

#include "tests/simulation/sweep.h"

namespace ingot::simulation {

std::string as_text(const Options& options, const SweepResult& result);
std::string as_json(const Options& options, const SweepResult& result);

// The command line that repeats a run.
std::string command_line(const Options& options);

}  // namespace ingot::simulation
