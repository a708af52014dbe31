// Bounds of the log, and what happens when one is reached.
#pragma once

#include <limits.h>

#include <cstddef>

namespace ingot::inline services_log {

// A longer line is cut. Together with a line that reports losses it fits into PIPE_BUF, so that the kernel writes both
// in one piece and lines of several processes never mix.
inline constexpr std::size_t kLogLineBytesMax = 2048;
static_assert(2 * kLogLineBytesMax <= PIPE_BUF);

// How long the last line of a process may wait for room; then it is lost.
inline constexpr int kLastLineWaitMs = 100;

}  // namespace ingot::services_log
