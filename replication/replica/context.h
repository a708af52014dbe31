// The objects that the parts of one replica's core share.
#pragma once

#include "replication/agreement/agreement.h"
#include "replication/pages/pages.h"
#include "replication/replica/action_queue.h"
#include "replication/replica/applier.h"
#include "replication/replica/peer_states.h"
#include "replication/store/state_machine.h"

namespace ingot::inline replication_replica {

// All of it outlives the parts. Not thread-safe.
struct ReplicaContext {
  const GroupConfig& group;
  int endpoints;  // replicas and clients; clients are group.replicas .. endpoints-1
  Agreement& agreement;
  Applier& applier;
  StateMachine& state;
  ReplicaPage& page;  // own
  PeerStates& peers;
  ActionQueue& queue;
  Effects& effects;  // asked for by agreement, not begun yet

  bool is_self(EndpointId replica) const { return replica == group.self; }
};

}  // namespace ingot::replication_replica
