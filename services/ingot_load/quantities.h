// Times and rates as the reports print them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

namespace ingot::load {

inline double microseconds(std::uint64_t ns) { return static_cast<double>(ns / 100) / 10; }
inline double to_tenths(double value) { return std::round(value * 10) / 10; }

// "12.3 us", "4.56 ms", "1.23 s".
inline std::string readable(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value < 1e6) return absl::StrFormat("%.1f us", value * 1e-3);
  if (value < 1e9) return absl::StrFormat("%.2f ms", value * 1e-6);
  return absl::StrFormat("%.2f s", value * 1e-9);
}

}  // namespace ingot::load
