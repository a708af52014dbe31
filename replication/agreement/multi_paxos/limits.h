// Bounds of a change of leader in Multi-Paxos, with their units.
#pragma once

#include <cstddef>

#include "core/limits.h"
#include "replication/requests/limits.h"


namespace ingot::inline replication_agreement_multi_paxos {

// Bytes of votes in one Promise, unless its first vote is larger; the candidate asks for the rest.
inline constexpr std::size_t kPromiseBytesMax = 1024 * 1024;
inline constexpr int kPromiseVotesMax = 256;
static_assert(kPromiseBytesMax + kBatchBytesMax + 4096 < kMessageBytesMax);

// Between the candidacies of voters that see the same leader die: the first usually wins before the second stands.
inline constexpr int kCandidateStaggerTicks = 4;
// A beaten candidate waits up to so many ticks before it stands again, then up to twice as many, and so on.
inline constexpr int kCandidateBackOffTicks = 8;
inline constexpr int kCandidateBackOffDoublings = 6;

}  // namespace ingot::replication_agreement_multi_paxos
