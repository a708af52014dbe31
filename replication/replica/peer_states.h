// What one replica knows of its peers: which are dead, which lag behind after a restart, which do not answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/replica_set.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/pages/pages.h"

namespace ingot::inline replication_replica {

// Deaths are inputs: silence is no proof of one.
//
// A replica is LAGGING if it is dead, or has come back and still lacks slots that were applied here at its return. The
// group does not wait for it: it does not hold up trimming, no replica depends on it in a tree, and the leader answers
// in its place. A joining replica that never catches up costs the others nothing; slots that are trimmed before it has
// caught up reach it in a snapshot. Not thread-safe.
class PeerStates {
 public:
  // `pages`: of all replicas, by id; they outlive this. Without them a replica that comes back counts as caught up at
  // once.
  PeerStates(EndpointId self, int replicas, std::vector<const ReplicaPage*> pages)
      : self_(self),
        replicas_(replicas),
        pages_(std::move(pages)),
        present_(index(replicas)),
        returns_at_(index(replicas)) {}

  EndpointId self() const { return self_; }
  int replicas() const { return replicas_; }
  bool is_replica(EndpointId endpoint) const { return endpoint.value() < replicas_; }

  void died(EndpointId replica) {
    dead_.insert(replica);
    lagging_.insert(replica);
  }
  // That incarnation takes part from now on, and lags until it has applied the slots below `applied_here`.
  void connected(ReplicaIncarnation replica, Slot applied_here);
  // Notes which replicas have caught up. To be called now and then; costs nothing if no replica has come back.
  void note_returns();

  bool dead(EndpointId replica) const { return dead_.contains(replica); }
  bool lagging(EndpointId replica) const { return lagging_.contains(replica); }
  bool any_lagging() const { return !lagging_.empty(); }

  // Silent: agreement suspects it, or the kernel says that it is stopped, and no message has come from it since.
  void suspect(EndpointId replica) { silent_.insert(replica); }
  void note_alive(EndpointId replica) { silent_.erase(replica); }
  bool silent(EndpointId replica) const { return silent_.contains(replica); }

  // As the replica's page shows it: perhaps an old value, but never ahead of the truth. REQUIRES: it has a page.
  std::size_t pages() const { return pages_.size(); }
  Slot applied(EndpointId replica) const { return Slot(page(replica)[ReplicaCounter::kAppliedSlots].get()); }
  std::uint64_t stable_used_bytes(EndpointId replica) const {
    return page(replica)[ReplicaCounter::kStableUsedBytes].get();
  }

 private:
  static std::size_t index(int replica) { return static_cast<std::size_t>(replica); }
  const ReplicaPage& page(EndpointId replica) const { return *pages_[replica.value()]; }

  const EndpointId self_;
  const int replicas_;
  const std::vector<const ReplicaPage*> pages_;
  std::vector<Incarnation> present_;  // by replica: the incarnation that came back last
  std::vector<Slot> returns_at_;      // by replica: it has caught up when it has applied the slots below
  ReplicaSet dead_;
  ReplicaSet lagging_;  // dead, or not caught up
  ReplicaSet silent_;
};

}  // namespace ingot::replication_replica
