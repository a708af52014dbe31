// Bounds of handles, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline replication_view_handle {

// A handle asks for a ticket no sooner than so long after the last one that it was not given, or that led to a
// publisher which has gone; plus up to the jitter, so that thousands of readers which lose their publisher at the same
// instant do not come back at the same instant.
inline constexpr std::int64_t kAskAgainNs = 1'000'000'000;
inline constexpr std::int64_t kAskJitterNs = 500'000'000;

// The same when another generation is named, or the one that it reads is gone.
inline constexpr std::int64_t kMoveNs = 5'000'000;
inline constexpr std::int64_t kMoveJitterNs = 20'000'000;

// While a ticket is on its way, reads look for it no more often than this.
inline constexpr std::int64_t kPollNs = 1'000'000;

// A read that waits looks again after the first pause, and then after twice as long, up to the last.
inline constexpr std::int64_t kPauseFirstNs = 20'000;
inline constexpr std::int64_t kPauseLastNs = 1'000'000;

// What an answer of changes may have; with more of them, to list all keys is no dearer.
inline constexpr std::size_t kChangesAnswerBytesMax = std::size_t{64} << 20;

}  // namespace ingot::replication_view_handle
