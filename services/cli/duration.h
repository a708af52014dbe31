// Durations on a command line: a number with its unit, as in "250ms", "20s" or "1m30s".
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"

namespace ingot::inline services_cli {

// Units: ns, us, ms, s, m, h; parts add up. "0" needs no unit. Negative, infinite and unit-less durations and those
// beyond 100 years are InvalidArgument, with a sentence that shows the right form.
absl::StatusOr<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The shortest form that parse_duration reads back as the same duration: "1m30s", "250ms", "0s".
std::string format_duration(std::chrono::nanoseconds duration);

// Adds a flag for a duration; `value` holds its default, which --help shows. `value` must outlive the parse.
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::chrono::nanoseconds& value,
                          const std::string& help);

}  // namespace ingot::services_cli
