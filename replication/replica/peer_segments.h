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

namespace ingot::inline replication_replica {

// A replica is dead when the kernel has marked its segment (transport/host/writer_lock.h), or when its next
// incarnation begins; silence proves nothing. Not thread-safe; used by one loop only.
class PeerSegments {
 public:
  // `segments`: by replica. The death of a replica that has none there is not noticed.
  PeerSegments(EndpointId self, std::vector<IncarnationSegments> segments);

  // Calls `died` for each replica that has died since the last poll.
  void poll(absl::FunctionRef<void(ReplicaIncarnation)> died);

  // The next incarnation of a replica is about to begin, so the one before is dead; if that was not known, `died` is
  // called. The new segment's mark is not read before connected(). `segment` is null if it could not be mapped: its
  // content is unknown here.
  void begin(ReplicaIncarnation next, std::shared_ptr<const Segment> segment,
             absl::FunctionRef<void(ReplicaIncarnation)> died);
  // Of the replica's earlier incarnations the supervisor keeps the segments of these, in ascending order. Returns the
  // segments that are dropped here.
  std::vector<IncarnationSegment> keep(EndpointId replica, std::span<const Incarnation> kept);
  // That incarnation takes part from now on.
  void connected(ReplicaIncarnation replica);

  // As of the last poll.
  bool dead(EndpointId replica) const { return dead_.contains(replica); }
  // Whether that incarnation takes part and is not known to be dead.
  bool takes_part(ReplicaIncarnation name) const {
    const std::size_t id = name.id.value();
    return id < present_.size() && present_[id] == name.incarnation && !dead(name.id);
  }
  // The newest incarnation of each replica that is known here.
  std::vector<Incarnation> newest() const;

  // The final content of that incarnation's segment, without the commands below `from`. Errors: FAILED_PRECONDITION
  // (the incarnation is not known to be dead), NOT_FOUND (the segment is not here), DATA_LOSS (as StableView::read). An
  // empty view if the incarnation is known to have ended before it opened its segment; StableView::released() if the
  // supervisor has released it. `published`: slots below it are in a published snapshot.
  absl::StatusOr<StableView> read(ReplicaIncarnation name, Slot published, Slot from = Slot(0)) const;

  // Calls `each` for every segment that is here and can be read now. Of a living writer it shows a recent state.
  void read_all(Slot from, absl::FunctionRef<void(const StableView&)> each) const;

 private:
  const IncarnationSegment* find(ReplicaIncarnation name) const;
  std::span<const std::byte> segment_of(ReplicaIncarnation name) const;

  const EndpointId self_;
  std::vector<IncarnationSegments> segments_;  // by replica
  std::vector<Incarnation> present_;           // by replica: the incarnation that takes part, or took part last
  ReplicaSet dead_;
};

}  // namespace ingot::replication_replica
