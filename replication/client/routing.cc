#include "replication/client/routing.h"

#include "replication/client/replica_client.h"

namespace ingot::inline replication_client {

Routing::Routing(int replicas, EndpointId leader, EndpointId acceptor, EndpointId nearest)
    : replicas_(replicas),
      nearest_(nearest),
      leader_(leader),
      acceptor_(acceptor),
      caught_up_at_(static_cast<std::size_t>(replicas)) {}

EndpointId Routing::target(RequestKind kind, EndpointId wanted, int attempts) const {
  if (is_for_leader(kind)) return leader_;
  const std::optional<int> places = ReplicaClient::places_from_nearest(wanted);
  return places ? first_from(nearest_.value() + *places + attempts) : wanted;
}

EndpointId Routing::responder(int attempts) const { return first_from(acceptor_.value() + attempts); }

// The first replica from `place` on, in a circle, that neither lags nor is doubted; if there is none, the first that is
// not known to be dead, those that are doubted last.
EndpointId Routing::first_from(int place) const {
  for (const ReplicaSet without : {lagging_ | doubted_, dead_ | doubted_, dead_}) {
    for (int i = 0; i < replicas_; ++i) {
      const EndpointId replica(static_cast<std::uint16_t>((place + i) % replicas_));
      if (!without.contains(replica)) return replica;
    }
  }
  return EndpointId(static_cast<std::uint16_t>(place % replicas_));
}

std::optional<EndpointId> Routing::next_to_ask() {
  for (int i = 1; i <= replicas_; ++i) {
    const EndpointId replica(static_cast<std::uint16_t>((asked_.value() + i) % replicas_));
    if (replica != leader_ && !dead(replica) && !doubted(replica)) return asked_ = replica;
  }
  return std::nullopt;
}

bool Routing::answered(const Response& response) {
  if (response.slot < newest_) return false;
  newest_ = response.slot;
  const bool changed = follow(response.leader);
  if (is_replica(response.acceptor)) acceptor_ = response.acceptor;
  return changed;
}

bool Routing::follow(EndpointId leader) {
  if (!is_replica(leader) || dead(leader) || doubted(leader) || leader == leader_) return false;
  leader_ = leader;
  return true;
}

void Routing::leads_not(EndpointId replica) {
  if (leader_ == replica) leader_ = first_from(replica.value() + 1);
}

bool Routing::died(EndpointId replica) {
  if (dead(replica)) return false;
  dead_.insert(replica);
  lagging_.insert(replica);
  doubted_.erase(replica);
  if (dead(leader_)) leader_ = first_from(leader_.value());
  return true;
}

bool Routing::stopped(EndpointId replica) {
  if (dead(replica) || doubted(replica)) return false;
  doubted_.insert(replica);
  if (doubted(leader_)) leader_ = first_from(leader_.value());
  return true;
}

void Routing::restarted(EndpointId replica, bool lags) {
  dead_.erase(replica);
  caught_up_at_[replica.value()] = newest_;
  if (!lags) lagging_.erase(replica);
}

void Routing::fell_behind(EndpointId replica, Slot floor) {
  if (dead(replica) || lags(replica)) return;
  lagging_.insert(replica);
  caught_up_at_[replica.value()] = floor;
}

void Routing::applied(EndpointId replica, Slot applied) {
  if (!dead(replica) && applied >= caught_up_at_[replica.value()]) lagging_.erase(replica);
}

}  // namespace ingot::replication_client
