// Bounds of settings, and the bounds that hold whatever is set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"

namespace ingot::inline services_config {

// Longest name of an instance, so that the names of its processes' sockets fit into sockaddr_un; longer ones are
// refused.
inline constexpr std::size_t kInstanceNameBytesMax = 90;

// Longest path of an instance's Unix socket, which sockaddr_un holds with a zero byte behind it; longer ones are
// refused.
inline constexpr std::size_t kSocketPathBytesMax = 107;

// The value of --socket that stands for the first default path that can be had.
inline constexpr const char* kAutomaticSocket = "auto";

// --quota-backend-bytes: there is no quota. Whatever is below it means the same.
inline constexpr std::int64_t kNoQuota = -1;

// Stable segments of ended incarnations that are kept until a published snapshot holds what is in them. Beyond this
// number, or beyond --kept-segments-mib, writes wait until a snapshot is published; beyond half of either one is made
// soon. Each process has a descriptor of each segment, at its start two.
inline constexpr std::uint64_t kKeptSegmentsMax = 128;

// Concurrent calls of a connection that --max-concurrent-streams can grant; it takes larger numbers and grants no more.
// Fewer would leave a watching client no call for anything else.
inline constexpr std::int64_t kConcurrentStreamsMax = 1536;
inline constexpr std::int64_t kConcurrentStreamsMin = 32;

// Loops of the front end, each with an endpoint and a thread of its own; more are refused at start. By default as many
// as the processors that no replica needs allow, two for each loop, at most kFrontEndLoopsByDefaultMax: the leader,
// which all of them wait for, is busy with fewer.
inline constexpr int kFrontEndLoopsMax = 8;
inline constexpr int kFrontEndLoopsByDefaultMax = 4;
static_assert(kReplicasMax + kFrontEndLoopsMax + 1 <= kEndpointsMax, "each loop needs an address, and the view");
static_assert(kFrontEndLoopsByDefaultMax <= kFrontEndLoopsMax);

// How much higher than in the snapshot revisions may go on; beyond it the start is refused. No instance ever makes so
// many, so that revisions cannot overflow.
inline constexpr std::int64_t kBumpRevisionMax = 1'000'000'000'000'000;

// --view-bytes: a generation of a view has at most so many bytes; more are refused on the command line.
inline constexpr std::int64_t kViewBytesLimitMax = std::int64_t{64} << 30;

}  // namespace ingot::services_config
