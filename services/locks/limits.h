// Bounds of locks and elections. How many calls may wait on a loop, and how many of one connection, is bounded with the
// watches by which they wait (services/watch/limits.h, kWatchStreamsMax; services/rpc/server/limits.h,
// kStreamingCallsMax).
#pragma once

#include <cstdint>

namespace ingot::locks {

// The TTL of a lease that is granted for a call that comes without one, as etcd's.
inline constexpr std::int64_t kSessionTtlS = 60;

}  // namespace ingot::locks
