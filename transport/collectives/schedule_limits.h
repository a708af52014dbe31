// The bounds of schedules and collectives, with what happens at each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"


namespace ingot::inline transport_collectives {

// ---- One schedule ---------------------------------------------------------------------------------------------------
inline constexpr std::size_t kScheduleNodesMax = 1024 * 1024;  // more are refused when it is built
inline constexpr std::size_t kScheduleHeaderBytes = 8;         // before the bytes of every message
inline constexpr std::size_t kScheduleMessageBytesMax = kMessageBytesMax - kScheduleHeaderBytes;  // more are refused

// ---- Operations in flight -------------------------------------------------------------------------------------------
// From the oldest unfinished operation of a group to the newest, at one endpoint; at the limit start() returns
// RESOURCE_EXHAUSTED.
inline constexpr std::uint32_t kOperationsInFlightMax = 64;
// Operations that a message may be ahead of the newest that its receiver is known to have started. Beyond that it waits
// at its sender.
inline constexpr std::uint32_t kEagerOperations = 32;
// Started operations after which a receiver reports its progress to its senders, unless another message of the group
// has.
inline constexpr std::uint32_t kAnnounceOperations = kEagerOperations / 2;
// Bytes of one operation to one receiver that may leave before the receiver is known to have started that operation.
// Further messages wait at the sender. A message counts kHeldOverheadBytes more than its payload.
inline constexpr std::size_t kEagerBytes = 4096;
inline constexpr std::size_t kHeldOverheadBytes = 64;
// A longer payload, or one of this size, is offered for a copy where endpoints can copy from one another. Below that
// sending it through lines is faster (docs/benchmarks.md).
inline constexpr std::size_t kOneCopyBytes = 6 * 1024;

// Nodes that one round runs; the rest run in the next.
inline constexpr int kNodesPerRound = 4096;

// ---- Groups ---------------------------------------------------------------------------------------------------------
inline constexpr std::uint32_t kGroupIdsMax = 4096;  // a group's number is below this; others are refused
inline constexpr int kGroupsMax = 16;                // in use at an endpoint at a time; messages of others are dropped

// The most that an endpoint holds of operations that it has not started. Reached only if every peer runs ahead in every
// group; messages beyond a peer's share break the rules, and are dropped and counted as stray.
inline constexpr std::size_t kHeldBytesMax =
    std::size_t{kGroupsMax} * kEndpointsMax * kEagerOperations * (kEagerBytes + kHeldOverheadBytes);

// ---- Collectives ----------------------------------------------------------------------------------------------------
// A longer payload travels in chunks of this size, so that a subtree starts to forward before it has received all. So
// large that one copy pays, so small that it stays in the cache of a core.
inline constexpr std::size_t kChunkBytes = 128 * 1024;
inline constexpr std::size_t kLineChunkBytes = 8 * 1024;  // the best size through lines
inline constexpr std::size_t kChunksMax = 4096;   // of one payload; a longer payload has longer chunks
inline constexpr std::size_t kChunksAhead = 4;    // chunks of a reduction that a child may be ahead of its parent
inline constexpr std::size_t kCollectiveBytesMax = std::size_t{256} * 1024 * 1024;  // a longer payload is refused

// ---- Atomic broadcast -----------------------------------------------------------------------------------------------
inline constexpr std::size_t kOrderedBytesMax = 1024 * 1024;  // of one message; more is refused
// Messages that the root has ordered and that some member may lack. It keeps them for members that must catch up; at
// the limit it orders nothing until the slowest member has caught up, or is excluded.
inline constexpr std::size_t kOrderedWindow = 256;
inline constexpr std::size_t kOrderedWindowBytes = 8 * 1024 * 1024;  // likewise; one message may exceed it
// Of one member, not yet come back to it; at the limit submit() returns RESOURCE_EXHAUSTED.
inline constexpr std::size_t kSubmissionsMax = 64;
inline constexpr std::size_t kSubmissionBytesMax = 4 * 1024 * 1024;

// ---- Waiting --------------------------------------------------------------------------------------------------------
// Interval between attempts to send into an otherwise idle full channel: the first, and the longest after doubling.
inline constexpr std::uint64_t kRetrySendNs = 20'000;
inline constexpr std::uint64_t kRetrySendNsMax = 5'000'000;

static_assert(2 * kEagerOperations <= kOperationsInFlightMax, "messages held for one place are of one operation");
static_assert(kCollectiveBytesMax / kChunksMax <= kScheduleMessageBytesMax / 2, "a chunk is one message");
static_assert(kChunksMax <= 1 << 14, "a tag holds a chunk's number in 14 bits");

}  // namespace ingot::transport_collectives
