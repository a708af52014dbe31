// The supervisor's messages to its operator: one line each, on standard error.
#pragma once

#include <cstdio>
#include <string>

namespace ingot {

inline void log_line(const std::string& text) { std::fprintf(stderr, "ingotd: %s\n", text.c_str()); }

}  // namespace ingot
