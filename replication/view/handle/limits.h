// Bounds of handles, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline replication_view_handle {

// After a ticket that was refused, or that led to a publisher which has gone, a handle waits for so long before it asks
// for another one, plus up to the jitter, so that thousands of readers which lose their publisher at the same instant
// do not come back at the same instant.
inline constexpr std::int64_t kAskAgainNs = 1'000'000'000;
inline constexpr std::int64_t kAskJitterNs = 500'000'000;

// The same when another generation is named, or the one that it reads is gone.
inline constexpr std::int64_t kMoveNs = 5'000'000;
inline constexpr std::int64_t kMoveJitterNs = 20'000'000;

// While a ticket is on its way, reads look for it no more often than this.
inline constexpr std::int64_t kPollNs = 1'000'000;

// A read that waits checks again after the first pause, then after twice that time, and so on up to the last.
inline constexpr std::int64_t kPauseFirstNs = 20'000;
inline constexpr std::int64_t kPauseLastNs = 1'000'000;

// What an answer of changes may have; for more changes, listing all keys costs no more.
inline constexpr std::size_t kChangesAnswerBytesMax = std::size_t{64} << 20;

}  // namespace ingot::replication_view_handle
