// Error texts for values of a command line or of a file. Thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ingot::inline services_cli {

// "a, b or c".
std::string join_or(const std::vector<std::string>& words);

// The defect of a text, as a sentence; empty: none.
std::string fault_in_choice(const std::string& given, const std::vector<std::string>& allowed);
// For a whole number within these bounds, both included.
std::string fault_in_number(const std::string& given, std::int64_t min,
                            std::int64_t max = std::numeric_limits<std::int64_t>::max());

}  // namespace ingot::services_cli
