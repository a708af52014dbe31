// The stable segments of a group as one of its replicas sees them: which writers are dead, and what they had stored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/replica_set.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/view.h"

namespace ingot {

// Concludes nothing from silence: a replica is dead when the kernel has marked its segment
// (replication/stable/writer_lock.h), or when its next incarnation begins. Not thread-safe; one loop's.
class PeerSegments {
 public:
  // `segments`: by replica; the death of one that has none there is not seen.
  PeerSegments(EndpointId self, std::vector<IncarnationSegments> segments);

  // Calls `died` for each replica that has died since the last poll.
  void poll(absl::FunctionRef<void(ReplicaIncarnation)> died);

  // The next incarnation of a replica is about to begin, so the one before is dead; if that was not known, `died` is
  // called. Its mark is not looked at before connected(). Slots below `published` are in a snapshot that is kept.
  void begin(ReplicaIncarnation next, std::shared_ptr<const Segment> segment, Slot published,
             absl::FunctionRef<void(ReplicaIncarnation)> died);
  // That incarnation takes part from now on.
  void connected(ReplicaIncarnation replica);

  // As of the last poll.
  bool dead(EndpointId replica) const { return dead_.contains(replica); }
  // The newest incarnation of each replica that is known here.
  std::vector<Incarnation> newest() const;

  // The last word of that incarnation, without the commands below `from`. Errors: FAILED_PRECONDITION (it is not known
  // to be dead), NOT_FOUND (the segment is not here), DATA_LOSS (as StableView::read). Of an incarnation that is known
  // to have ended before it opened its segment: an empty view.
  absl::StatusOr<StableView> read(ReplicaIncarnation name, Slot from = Slot(0)) const;

  // Every segment that is here and can be read just now, of the living too: a recent state of it.
  void read_all(Slot from, absl::FunctionRef<void(const StableView&)> each) const;

 private:
  std::span<const std::byte> segment_of(ReplicaIncarnation name) const;

  const EndpointId self_;
  std::vector<IncarnationSegments> segments_;  // by replica
  std::vector<Incarnation> present_;           // by replica: the incarnation that takes part, or did last
  ReplicaSet dead_;
};

}  // namespace ingot
