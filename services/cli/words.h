// The words in which a value of a command line or of a file is refused. Thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ingot {

// "a, b or c".
std::string join_or(const std::vector<std::string>& words);

// What is wrong with a text, as a sentence; empty: nothing.
std::string fault_in_choice(const std::string& given, const std::vector<std::string>& allowed);
// For a whole number within these bounds, both included.
std::string fault_in_number(const std::string& given, std::int64_t min,
                            std::int64_t max = std::numeric_limits<std::int64_t>::max());

}  // namespace ingot
