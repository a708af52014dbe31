// The size of a stable segment, in bytes, and what happens when it is full.
#pragma once

#include <cstddef>

namespace ingot::inline replication_stable {

// For the promises, votes and proposals of one replica. A full store refuses writes. The proposal window and trimming
// prevent that, as a static_assert in replication/replica/compaction.cc checks.
inline constexpr std::size_t kStableSegmentBytes = 64 * 1024 * 1024;

}  // namespace ingot::replication_stable
