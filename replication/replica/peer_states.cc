#include "replication/replica/peer_states.h"

#include <optional>

#include "replication/pages/page_access.h"

namespace ingot::inline replication_replica {

void PeerStates::connected(ReplicaIncarnation replica, Slot applied_here) {
  const std::size_t id = replica.id.value();
  present_[id] = replica.incarnation;
  returns_at_[id] = applied_here;
  dead_.erase(replica.id);
  if (id >= pages_.size()) lagging_.erase(replica.id);
}

void PeerStates::note_returns() {
  if (lagging_ == dead_) return;
  for (std::uint16_t id = 0; id < pages_.size(); ++id) {
    const EndpointId replica(id);
    if (dead(replica) || !lagging(replica)) continue;
    const std::optional<Slot> applied = applied_by(page(replica), present_[id]);
    if (applied && *applied >= returns_at_[id]) lagging_.erase(replica);
  }
}

}  // namespace ingot::replication_replica
