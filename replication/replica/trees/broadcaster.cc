#include "replication/replica/trees/broadcaster.h"

#include <utility>

namespace ingot::inline replication_replica_trees {

Broadcaster::Broadcaster(const GroupConfig& group, std::optional<TreeOptions> trees, StateMachine& state,
                         const std::vector<const ReplicaPage*>& pages, const Agreement& agreement,
                         const PeerStates& peers, ActionQueue& queue)
    : group_(group), state_(state), agreement_(agreement), peers_(peers), queue_(queue) {
  if (!trees || is_plain_star(trees->plan)) return;
  router_ = std::make_unique<TreeRouter>(group, *std::move(trees), state, pages);
}

// Whether no replica in the tree of `root` depends on a lagging one. Dead replicas forward nothing, and a restarted one
// does not know the trees in force before it has caught up.
bool Broadcaster::is_whole(EndpointId root) const {
  if (!router_) return false;
  for (std::uint16_t peer = 0; peers_.any_lagging() && peer < group_.replicas; ++peer) {
    if (peers_.lagging(EndpointId(peer)) && router_->depends_on(root, EndpointId(peer))) return false;
  }
  return true;
}

// A tree is used for the one replica whose broadcasts all others wait for. Broadcasts of others are few, and must
// arrive even when something is wrong. Until the group has agreed on another tree, no broadcast goes through a dead
// replica.
bool Broadcaster::broadcasts_by_tree() const { return is_whole(group_.self) && agreement_.acceptor() == group_.self; }
bool Broadcaster::answers_by_tree(EndpointId root) const { return is_whole(root); }

void Broadcaster::broadcast(const GatheredMessage& message) {
  router_->broadcast(message, [this](EndpointId to, std::string_view bytes) { queue_.send(to, bytes); });
}

void Broadcaster::answer(EndpointId root, std::string_view message) {
  router_->answer(root, message, [this](EndpointId to, std::string_view bytes) { queue_.send(to, bytes); });
}

bool Broadcaster::receive(EndpointId from, std::string_view message, TreeRouter::Deliver deliver) {
  const auto send = [this](EndpointId to, std::string_view bytes) { queue_.send(to, bytes); };
  return router_ && from.value() < group_.replicas && router_->receive(from, message, send, deliver);
}

void Broadcaster::after_apply(Missed missed) {
  if (router_) router_->after_apply([this](EndpointId to, std::string_view bytes) { queue_.send(to, bytes); }, missed);
}

void Broadcaster::check(std::uint64_t now_ns, bool working, absl::FunctionRef<void(const Request&)> propose,
                        Missed missed) {
  if (!router_) return;
  if (agreement_.role() != Role::kLeader) return router_->rest();
  const auto change = router_->check(now_ns, working, agreement_.acceptor(), missed);
  if (!change) return;
  Request request;
  request.client = kTreeClient;
  request.sequence = router_->next_version();
  request.acknowledged_below = request.sequence;
  request.reply_to = request.responder = kNoEndpoint;
  request.payload = *change;
  propose(request);
}

void Broadcaster::peer_died(EndpointId peer) {
  if (router_) router_->peer_died(peer);
}

void Broadcaster::tick() {
  if (router_) router_->tick([this](EndpointId to, std::string_view bytes) { queue_.send(to, bytes); });
}

void Broadcaster::publish(ReplicaPage& page) const {
  if (router_) {
    router_->publish(agreement_.acceptor(), page);
  } else {
    page[ReplicaCounter::kTreeParent].set(agreement_.acceptor().value());
  }
}

}  // namespace ingot::replication_replica_trees
