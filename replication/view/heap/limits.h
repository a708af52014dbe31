// Bounds of a heap, with their units, and what happens at each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline replication_view_heap {

inline constexpr std::uint64_t kHeapBytesMax = std::uint64_t{64} << 30;  // of one chain; more is refused at creation
inline constexpr std::size_t kHeapNodeBytesMax = 4096;  // of one node with its header; more is a bug (CHECK)
inline constexpr std::size_t kUndoEntriesMax = 4096;  // words noted in one batch; callers look at words_left() first
inline constexpr std::size_t kRootUserWordsMax = 48;  // of 8 bytes, for the users' scalars in a root; more is a bug
inline constexpr std::size_t kReclaimedMax = 256;  // entries of the retire queue in one batch; the rest waits
inline constexpr std::size_t kHandedBackWordsMax = 256;  // that a user changes for an entry handed back; more is a bug
inline constexpr std::uint64_t kRetiredMs = 20;  // how long a node stays readable after it was retired
inline constexpr std::size_t kPinsMax = 64;  // roots held at once; one more breaks the oldest pin
inline constexpr int kRootReadsMax = 1000;  // times that a reader tries to copy a root before it gives up

}  // namespace ingot::replication_view_heap
