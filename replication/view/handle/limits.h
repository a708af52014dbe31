// Bounds of handles, and what happens at them.
#pragma once

#include <cstdint>

namespace ingot::inline replication_view_handle {

// A handle asks for a ticket no sooner than so long after the last time, plus up to the jitter, so that thousands of
// readers that lose their publisher at the same instant do not come back at the same instant.
inline constexpr std::int64_t kAskAgainNs = 1'000'000'000;
inline constexpr std::int64_t kAskJitterNs = 500'000'000;

// A handle that was told of a new generation asks within this time: it can go on reading the old one meanwhile.
inline constexpr std::int64_t kMoveJitterNs = 20'000'000;

// A handle that waits for a revision looks again after so long: at first, and then twice as long, up to the second.
inline constexpr std::int64_t kLookAgainFirstNs = 20'000;
inline constexpr std::int64_t kLookAgainMostNs = 1'000'000;

}  // namespace ingot::replication_view_handle
