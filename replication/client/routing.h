// Which replica a client's request goes to, and which one answers it.
#pragma once

#include <optional>
#include <vector>

#include "core/replica_set.h"
#include "core/types.h"
#include "replication/requests/request.h"

namespace ingot::inline replication_client {

// Whether only the leader answers such a request.
inline bool is_for_leader(RequestKind kind) {
  return kind == RequestKind::kCommand || kind == RequestKind::kLinearizableQuery;
}

// What a client knows of the replicas: roles from their answers, deaths and restarts from its driver. Not thread-safe.
//
// A replica lags from its restart until it has applied all slots that this client has seen answers from; and from when
// it has not come to a local query's floor in time, until it has. Requests that name a lagging replica are sent to it
// at once, but it is not chosen.
//
// A replica is doubted from stopped() to continued() or its death. Meanwhile nothing names it leader, and others are
// chosen before it.
class Routing {
 public:
  // First guesses; answers correct them. `nearest`: the replica for local queries.
  Routing(int replicas, EndpointId leader, EndpointId acceptor, EndpointId nearest);

  EndpointId leader() const { return leader_; }
  bool is_replica(EndpointId endpoint) const { return endpoint.value() < replicas_; }

  // `wanted`: the replica for local queries, or from_nearest(). `attempts`: how often the request was sent before.
  EndpointId target(RequestKind kind, EndpointId wanted, int attempts) const;

  // The acceptor is the first to know a decision. A retry names others in turn: the first choice may be dead or slow.
  EndpointId responder(int attempts) const;

  // A replica other than the leader, in turn, and not doubted; none if there is no other.
  std::optional<EndpointId> next_to_ask();

  // Takes the roles from an answer, unless a newer answer has named them already. Returns whether the leader changed.
  bool answered(const Response& response);

  // Believes that `leader` leads, unless it is dead or doubted. Returns whether the leader changed.
  bool follow(EndpointId leader);

  // The replica does not lead and does not know the leader: another replica may know more.
  void leads_not(EndpointId replica);

  // Returns false if the death was known already.
  bool died(EndpointId replica);
  // The kernel has reported its process stopped. Returns false if it is doubted already, or dead.
  bool stopped(EndpointId replica);
  void continued(EndpointId replica) { doubted_.erase(replica); }
  // The replica's next incarnation can be reached. `lags`: it counts as lagging until applied() shows that it has
  // caught up.
  void restarted(EndpointId replica, bool lags);
  // The replica has not shown in time that it has applied the slots below `floor`: it counts as lagging until applied()
  // does.
  void fell_behind(EndpointId replica, Slot floor);
  // The replica has applied the slots below `applied`.
  void applied(EndpointId replica, Slot applied);

  bool dead(EndpointId replica) const { return dead_.contains(replica); }
  bool doubted(EndpointId replica) const { return doubted_.contains(replica); }
  bool lags(EndpointId replica) const { return lagging_.contains(replica); }
  bool any_lags() const { return lagging_ != dead_; }  // whether any living replica lags

 private:
  EndpointId first_from(int place) const;

  const int replicas_;
  const EndpointId nearest_;
  EndpointId leader_;
  EndpointId acceptor_;
  EndpointId asked_;               // the last result of next_to_ask
  Slot newest_;                    // the highest slot of the answers that named roles
  ReplicaSet dead_;
  ReplicaSet doubted_;
  ReplicaSet lagging_;             // includes the dead replicas
  std::vector<Slot> caught_up_at_;  // by replica: the applied slots from which on it does not lag
};

}  // namespace ingot::replication_client
