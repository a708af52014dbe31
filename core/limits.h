// Bounds that every layer shares, with their units, and what happens at them. A layer's own bounds stand in its
// limits.h.
#pragma once

#include <cstddef>

namespace ingot::inline core {

inline constexpr int kReplicasMax = 48;    // copies of the state; more are refused at start
inline constexpr int kVotersMax = 7;       // replicas that may lead, accept and vote; more are refused at start
inline constexpr int kVotersDefault = 5;   // or all replicas, if fewer
inline constexpr int kEndpointsMax = 64;   // replicas, the front end, and room for clients
inline constexpr std::size_t kMessageBytesMax = 4 * 1024 * 1024;   // one Transport::send; more is a bug (CHECK)

static_assert(kReplicasMax < kEndpointsMax, "the front end needs an address");
static_assert(kVotersMax <= kReplicasMax);
static_assert(kVotersDefault <= kVotersMax);

}  // namespace ingot::core
