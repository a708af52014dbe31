// Which replica a client's request goes to, and which one answers it.
#pragma once

#include <optional>
#include <vector>

#include "core/replica_set.h"
#include "core/types.h"
#include "replication/requests/request.h"

namespace ingot {

// Whether only the leader answers it.
inline bool is_for_leader(RequestKind kind) {
  return kind == RequestKind::kCommand || kind == RequestKind::kLinearizableQuery;
}

// What a client knows of the replicas: roles from their answers, deaths and restarts from its driver. Not thread-safe.
//
// A replica that was started again is sent what is meant for it at once, and is chosen to answer once it has applied
// what was answered to this client before: until then it lags.
class Routing {
 public:
  // First guesses; answers correct them. `nearest`: the replica for local queries.
  Routing(int replicas, EndpointId leader, EndpointId acceptor, EndpointId nearest);

  EndpointId leader() const { return leader_; }
  bool is_replica(EndpointId endpoint) const { return endpoint.value() < replicas_; }

  // `wanted`: the replica for local queries, or kAnyReplica. `attempts`: how often the request was sent before.
  EndpointId target(RequestKind kind, EndpointId wanted, int attempts) const;

  // The acceptor is the first to know a decision. A retry names others in turn: the first choice may be dead or slow.
  EndpointId responder(int attempts) const;

  // A replica other than the leader, in turn; none if there is no other.
  std::optional<EndpointId> next_to_ask();

  // An answer names the roles; an older one than seen before says nothing. Returns whether the leader changed.
  bool answered(const Response& response);

  // Believes that `leader` leads, unless it is dead. Returns whether the leader changed.
  bool follow(EndpointId leader);

  // It does not lead and names no successor: another replica may know more.
  void leads_not(EndpointId replica);

  // Returns false if that was known.
  bool died(EndpointId replica);
  // Its next incarnation can be reached. `lags`: applied() will say when it has caught up.
  void restarted(EndpointId replica, bool lags);
  // Slots below `applied` are applied there.
  void applied(EndpointId replica, Slot applied);

  bool dead(EndpointId replica) const { return dead_.contains(replica); }
  bool lags(EndpointId replica) const { return lagging_.contains(replica); }
  bool any_lags() const { return lagging_ != dead_; }  // of those that live

 private:
  EndpointId first_from(int place) const;

  const int replicas_;
  const EndpointId nearest_;
  EndpointId leader_;
  EndpointId acceptor_;
  EndpointId asked_;               // by next_to_ask, last
  Slot newest_;                    // of the answers that named roles
  ReplicaSet dead_;
  ReplicaSet lagging_;             // the dead are among them
  std::vector<Slot> caught_up_at_;  // by replica: the applied slots from which on it does not lag
};

}  // namespace ingot
