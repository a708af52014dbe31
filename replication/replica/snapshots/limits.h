// Bounds of snapshots, with their units, and what happens when they are reached.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"
#include "replication/agreement/limits.h"
#include "replication/replica/limits.h"
#include "transport/host/limits.h"


namespace ingot {

// ---- When one is made -----------------------------------------------------------------------------------------------
// Bytes of log above the newest published snapshot that make another one worth its while: a part of the state's size, but at
// least kSnapshotLogBytesMin and at most a part of the stable segment, which has to hold them.
inline constexpr std::size_t kSnapshotLogBytesMin = 1024 * 1024;
inline constexpr std::size_t kSnapshotStateParts = 8;    // the state's size through this
inline constexpr std::size_t kSnapshotSegmentParts = 8;  // the segment's room for records through this
// Whoever is not the first to make one waits for so much more log for each who comes before: those may be stopped.
inline constexpr std::size_t kSnapshotTurnParts = 32;  // the segment's room for records through this
// A leader proposes nothing while a segment of the group is fuller than this: the rest is for what must be stored
// without a proposal, above all what a new leader recovers, each of it twice at worst.
inline constexpr std::size_t kProposeBelowParts = 3;  // the segment's room for records through this
// Ticks after a change of the epoch: whoever waits for the failover comes first. One more for so many bytes of the state.
inline constexpr int kSnapshotAfterChangeTicks = 20;
inline constexpr std::size_t kSnapshotBytesPerTick = 1024 * 1024;
// Ticks of the replica without any processor time for the child that writes one: then it is stopped, or hangs, and is ended.
// The same again after kSnapshotSilentTicks; meanwhile it is the others' turn, who wait for more log.
inline constexpr int kSnapshotStillTicks = 2'000;
// An older snapshot is no use to a joining replica: its peers' logs of commands may not reach back so far.
inline constexpr std::uint64_t kSnapshotUsefulSlots = kCommandLogSlots / 2;

// ---- How one travels ------------------------------------------------------------------------------------------------
inline constexpr std::size_t kSnapshotBytesMax = kSegmentBytesMax;  // a longer one is refused
inline constexpr std::size_t kSnapshotPartBytes = 64 * 1024;        // of one message
inline constexpr std::size_t kSnapshotWindowBytes = 16 * kSnapshotPartBytes;  // sent and not confirmed, for each reader
inline constexpr std::size_t kSnapshotConfirmBytes = kSnapshotWindowBytes / 4;  // received before a word is said of it
inline constexpr int kSnapshotPartsPerRound = 4;  // of a serving replica's loop, to all readers together
// Room that a reader takes at once; for what is longer it grows, so that a lie about a length costs nothing.
inline constexpr std::size_t kSnapshotReserveBytes = 64 * 1024 * 1024;
inline constexpr int kSnapshotWaitTicks = 20;     // between two words to those who wait until a snapshot is made
inline constexpr int kSnapshotSilentTicks = 400;  // without a word from a peer, then the next is asked
inline constexpr int kSnapshotFruitlessTicks = 12'000;  // without a part of the file, whatever it says; likewise
// After what was applied last a replica looks for so long whether a snapshot is wanted.
inline constexpr int kSnapshotQuietTicks = 40;

// Those that a test narrows. REQUIRES: part_bytes <= kSnapshotPartBytes, confirm_bytes <= window_bytes / 2,
// window_bytes >= part_bytes.
struct SnapshotBounds {
  std::size_t log_bytes_min = kSnapshotLogBytesMin;
  std::size_t log_step_bytes = 64 * 1024;  // to which the log above a snapshot is measured
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

}  // namespace ingot
