// The stable segments of a group as one of its replicas sees them: who is dead, what the dead had stored, and who has
// come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/limits.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/pages/pages.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/view.h"

namespace ingot {

// Concludes nothing from silence: dead is who the kernel says so of (replication/stable/writer_lock.h), and whose next incarnation
// begins. Not thread-safe; used by its replica's loop only.
//
// Who is dead, or has come back and lacks what was applied here when it did, is AWAY: nobody waits for it. It does not hold
// up trimming, nobody hangs from it in a tree, and the leader answers in its place. So a joining replica that never
// catches up costs the others nothing; what is trimmed before it has caught up it gets by a snapshot.
class PeerSegments {
 public:
  // `lives`: by replica; of one that has no segment there no death is seen. `pages`: by replica, outliving this; without
  // them whoever comes back has caught up at once.
  PeerSegments(EndpointId self, std::vector<IncarnationSegments> segments, std::vector<const ReplicaPage*> pages);

  // Calls `died` for everybody who has died since the last look.
  void poll(absl::FunctionRef<void(ReplicaIncarnation)> died);

  // The next incarnation of a replica is about to begin, so the one before is dead, if it was not known; then `died` is called.
  // It is not looked at before back().
  // Slots below `sealed` are in a snapshot that is kept.
  void begin(ReplicaIncarnation next, std::shared_ptr<const Segment> segment, Slot published,
             absl::FunctionRef<void(ReplicaIncarnation)> died);
  // That incarnation takes part from now on: it is not dead, but away until it has applied what is applied here now.
  void back(ReplicaIncarnation name, Slot applied_here);

  // As of the last look.
  bool dead(EndpointId replica) const { return has(dead_, replica); }
  bool any_lagging() const { return lagging_ != 0; }
  bool lagging(EndpointId replica) const { return has(lagging_, replica); }

  // Looks who has caught up. To be called now and then; costs nothing where nobody has come back.
  void note_returns();

  // The newest incarnation of each replica that is known here.
  ReplicaIncarnation newest(EndpointId replica) const { return {replica, segments_[replica.value()].back().incarnation}; }
  std::size_t replicas() const { return segments_.size(); }

  // The last word of that incarnation, without the commands below `from`. Errors: FAILED_PRECONDITION (it is not known
  // to be dead), NOT_FOUND (the segment is not here), DATA_LOSS (as StableView::read). Of an incarnation that is known
  // to have ended before it opened its segment: an empty view.
  absl::StatusOr<StableView> read(ReplicaIncarnation name, Slot from = Slot(0)) const;

  // Every segment that is here and can be read just now, of the living too: a recent state of it.
  void read_all(Slot from, absl::FunctionRef<void(const StableView&)> each) const;

 private:
  using Mask = std::uint64_t;
  static_assert(kReplicasMax <= 64, "a bit for each replica");

  static Mask mask_of(EndpointId replica) { return Mask{1} << replica.value(); }
  bool has(Mask mask, EndpointId replica) const {
    return replica.value() < segments_.size() && (mask & mask_of(replica)) != 0;
  }
  std::span<const std::byte> segment_of(ReplicaIncarnation name) const;

  EndpointId self_;
  std::vector<IncarnationSegments> segments_;      // by replica
  std::vector<Incarnation> present_;     // by replica: the incarnation that takes part, or did last
  std::vector<const ReplicaPage*> pages_;
  std::vector<Slot> returns_at_;         // by replica: applied slots from which on it has caught up
  Mask dead_ = 0;
  Mask lagging_ = 0;  // dead, or not caught up
};

}  // namespace ingot
