// Bounds of etcd's API, and what happens when one is reached.
#pragma once

#include <cstddef>

namespace ingot {

// Bytes of keys and values in one Range answer, which the front end assembles from pages. A larger answer is refused;
// the caller can ask with a limit.
inline constexpr std::size_t kRangeBytesMax = 64 * 1024 * 1024;
// A longer request or answer gets a message of its own, so that a loop's reused messages keep little memory.
inline constexpr std::size_t kReusedMessageBytesMax = 16 * 1024;
inline constexpr int kRangeRestartsMax = 8;  // of a Range overtaken by compactions between pages; then "unavailable"

}  // namespace ingot
