// Bounds of etcd's API, with their units, and what happens at them.
#pragma once

#include <cstddef>

namespace ingot {

// Keys and values of one Range answer, which the front end assembles from pages. Longer ones are refused; the
// caller uses limit.
inline constexpr std::size_t kRangeBytesMax = 64 * 1024 * 1024;
inline constexpr int kRangeRestartsMax = 8;  // of a Range overtaken by compactions between pages; then "unavailable"

}  // namespace ingot
