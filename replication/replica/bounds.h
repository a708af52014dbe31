// Bounds of one replica's core: those of the limits.h files, unless a test narrows them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replication/agreement/limits.h"
#include "replication/replica/limits.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/requests/limits.h"

namespace ingot::inline replication_replica {

struct ReplicaBounds {
  // A batch that is not full is proposed only while fewer own slots than this are undecided; meanwhile it grows.
  int pipeline_slots = kPipelineSlotsOwnCore;
  std::size_t window_bytes = kWindowBytesMax;  // of own undecided proposals; further batches wait
  std::size_t batch_bytes = kBatchBytesMax;    // of the commands of one slot, at most that; a larger command goes alone
  std::int64_t apply_steps = kApplySteps;      // that a round applies, and its long queries take; at least 1
  std::size_t unapplied_bytes = kUnappliedBytesMax;
  int trim_slots = kTrimSlots;                 // applied slots between two attempts to trim
  SnapshotBounds snapshots{};
  std::uint64_t tick_ns = std::uint64_t{kTickMs} * 1'000'000;
  std::uint64_t blocked_after_ns = std::uint64_t{kBlockedAfterMs} * 1'000'000;
};

}  // namespace ingot::replication_replica
