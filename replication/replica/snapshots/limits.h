// Bounds of snapshots, with their units, and what happens when they are reached.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"
#include "replication/agreement/limits.h"
#include "replication/replica/limits.h"
#include "transport/host/limits.h"

namespace ingot::inline replication_replica_snapshots {

// ---- When a snapshot is made ----------------------------------------------------------------------------------------
// A new snapshot is due when the log above the newest published one has as many bytes as the state, so that a byte of
// log costs a byte of snapshot; but at least kSnapshotLogBytesMin, and at most a fraction of the stable segment, which
// holds that log.
inline constexpr std::size_t kSnapshotLogBytesMin = 1024 * 1024;
inline constexpr std::size_t kSnapshotSegmentParts = 8;  // the segment's room for records through this
// Replicas take turns. For each replica whose turn comes before its own, a replica waits for this much more log: it
// makes a snapshot only if those before it do not, for example because they are stopped.
inline constexpr std::size_t kSnapshotTurnParts = 32;  // the segment's room for records through this
// A leader proposes nothing while a segment of the group is fuller than this: the rest is for what must be stored
// without a proposal, above all what a new leader recovers, each of it twice at worst.
inline constexpr std::size_t kProposeBelowParts = 3;  // the segment's room for records is divided by this
// Ticks from a change of the epoch to the snapshot that it calls for: the failover, which clients wait for, goes first.
// One tick more for each kSnapshotBytesPerTick of the state.
inline constexpr int kSnapshotAfterChangeTicks = 20;
inline constexpr std::size_t kSnapshotBytesPerTick = 1024 * 1024;
// Ticks in which the child that writes a snapshot uses no processor time. After that it counts as stopped or hanging,
// and is killed. The replica tries again after kSnapshotSilentTicks; meanwhile the next replicas, which wait for more
// log, may take their turn.
inline constexpr int kSnapshotStillTicks = 2'000;
// A state of so many bytes gets huge pages, for the sake of the forks. A smaller one does without.
inline constexpr std::size_t kHugePagesFromBytes = 64 * 1024 * 1024;
// A snapshot that is older by this many slots is useless to a joining replica: its peers' command logs may not reach
// back that far.
inline constexpr std::uint64_t kSnapshotUsefulSlots = kCommandLogSlots / 2;

// ---- Transfer of a snapshot -----------------------------------------------------------------------------------------
inline constexpr std::size_t kSnapshotBytesMax = kSegmentBytesMax;  // a longer file is refused
inline constexpr std::size_t kSnapshotPartBytes = 64 * 1024;        // the most in one message
inline constexpr std::size_t kSnapshotWindowBytes = 16 * kSnapshotPartBytes;  // sent and not confirmed, for each reader
inline constexpr std::size_t kSnapshotConfirmBytes = kSnapshotWindowBytes / 4;  // received before the reader confirms
inline constexpr int kSnapshotPartsPerRound = 4;  // per round of the serving replica's loop, to all readers together
// Memory that a reader allocates at once. For a longer file it grows with the parts that come, so that a false length
// costs nothing.
inline constexpr std::size_t kSnapshotReserveBytes = 64 * 1024 * 1024;
inline constexpr int kSnapshotWaitTicks = 20;     // between two kWait to a reader whose snapshot is being made
inline constexpr int kSnapshotSilentTicks = 400;  // without a message from the peer: the reader asks the next one
inline constexpr int kSnapshotFruitlessTicks = 12'000;  // likewise, without any part
// For this many ticks after the last applied slot, a replica goes on checking whether a snapshot is due.
inline constexpr int kSnapshotQuietTicks = 40;

// The bounds that a test may narrow. REQUIRES: part_bytes <= kSnapshotPartBytes, confirm_bytes <= window_bytes / 2,
// window_bytes >= part_bytes.
struct SnapshotBounds {
  std::size_t log_bytes_min = kSnapshotLogBytesMin;
  std::size_t log_step_bytes = 64 * 1024;  // precision to which the log above a snapshot is measured
  std::size_t part_bytes = kSnapshotPartBytes;
  std::size_t window_bytes = kSnapshotWindowBytes;
  std::size_t confirm_bytes = kSnapshotConfirmBytes;
  std::uint64_t useful_slots = kSnapshotUsefulSlots;
  int parts_per_round = kSnapshotPartsPerRound;
  int after_change_ticks = kSnapshotAfterChangeTicks;
  int wait_ticks = kSnapshotWaitTicks;
  int silent_ticks = kSnapshotSilentTicks;
  int fruitless_ticks = kSnapshotFruitlessTicks;
  int quiet_ticks = kSnapshotQuietTicks;
};

static_assert(kSnapshotPartBytes < kMessageBytesMax && kSnapshotWindowBytes < kBacklogBytesMax);
static_assert(kSnapshotConfirmBytes <= kSnapshotWindowBytes / 2, "else a reader waits for each window's confirmation");
static_assert(kSnapshotWaitTicks * 4 <= kSnapshotSilentTicks);

}  // namespace ingot::replication_replica_snapshots
