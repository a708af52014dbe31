// A replica's room in its stable store: what is trimmed and when, and what waits until there is room.
#pragma once

#include <algorithm>
#include <cstddef>

#include "replication/replica/bounds.h"
#include "replication/replica/context.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/replica/snapshots/replica_snapshots.h"
#include "replication/stable/store.h"

namespace ingot::inline replication_replica {

// Not thread-safe; used by its replica's core only.
class Compaction {
 public:
  // REQUIRES: the references outlive this.
  Compaction(ReplicaContext& context, StableStore& stable, const ReplicaSnapshots& snapshots,
             const ReplicaBounds& bounds)
      : context_(context),
        stable_(stable),
        snapshots_(snapshots),
        bounds_(bounds),
        next_trim_(slots(bounds.trim_slots)) {}

  // Of the replica's own store, in bytes; the group reads it from the page.
  std::size_t used_bytes() const { return stable_.used_bytes(); }
  std::size_t free_bytes() const {
    return stable_.capacity_bytes() - std::min(stable_.capacity_bytes(), stable_.used_bytes());
  }

  // Whether a message that may store so many bytes can be handled.
  bool has_room_for(std::size_t bytes);

  // Whether a leader may propose: the group can store it, and what a new leader would recover.
  bool group_has_room() const;
  // Whether the keeper holds as many segments of ended incarnations as it may: proposals wait until a published
  // snapshot releases some.
  void note_segments_full(bool full) { segments_full_ = full; }
  bool segments_full() const { return segments_full_; }

  // Trims what enough replicas, and a published snapshot, have. To be called after each round that did something.
  void compact();

  // The store is so full that compact() must be called even while nothing is proposed.
  bool wants_tick() const { return snapshots_.kept() && is_pressed(); }

 private:
  static Slot slots(int count) { return Slot(static_cast<std::uint64_t>(count)); }
  std::size_t propose_below_bytes() const { return stable_.capacity_bytes() / kProposeBelowParts; }
  bool is_pressed() const;
  Slot trim_point(bool pressed) const;
  Slot known_to_enough(bool pressed) const;

  ReplicaContext& context_;
  StableStore& stable_;
  const ReplicaSnapshots& snapshots_;
  const ReplicaBounds bounds_;
  bool segments_full_ = false;
  Slot trimmed_;
  Slot next_trim_;  // applied slots at which trimming is tried again
};

}  // namespace ingot::replication_replica
