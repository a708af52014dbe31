// The bound of a stable segment, with its unit, and what happens at it.
#pragma once

#include <cstddef>

namespace ingot {

// Promises, votes and proposals of one replica. When full the store refuses, which the window and trimming prevent:
// replication/replica/compaction.cc asserts it.
inline constexpr std::size_t kStableSegmentBytes = 64 * 1024 * 1024;

}  // namespace ingot
