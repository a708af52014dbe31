// Prints a search for the highest rate that keeps a target: a line for each measurement, a table, or a JSON object.
#pragma once

#include <chrono>
#include <string>

#include "services/ingot_load/load_options.h"
#include "services/ingot_load/target_search.h"

namespace ingot::load {

// "step 3: 4200/s: p99 3.21 ms, 0.2 % missed the target: held", for standard error.
std::string step_line(std::size_t number, const TargetStep& step);

// One line of JSON, which scripts rely on up to "interrupted"; fields after that are informal and may grow.
std::string json_target_report(const LoadOptions& options, std::chrono::nanoseconds target_p99,
                               const TargetResult& result);

// A table of the measurements and what they come to.
std::string table_target_report(std::chrono::nanoseconds target_p99, const TargetResult& result);

}  // namespace ingot::load
