// Bounds of locks and elections. How many calls may wait on a loop, and how many of one connection, is bounded with the
// watches by which they wait (services/watch/limits.h, kWatchStreamsMax; services/rpc/server/limits.h,
// kStreamingCallsMax).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::locks {

// The TTL of a lease that is granted for a call that comes without one, as etcd's.
inline constexpr std::int64_t kSessionTtlS = 60;

// Keys of calls that have ended, for each loop: so many are asked for until they are gone, a while after each error.
inline constexpr std::size_t kLeavesMax = 1024;
inline constexpr int kLeaveTriesMax = 100;
inline constexpr std::uint64_t kLeaveAgainMs = 500;

}  // namespace ingot::locks
