// A replica's part when others die and roles move.
#include <utility>

#include "absl/status/status.h"
#include "core/check.h"
#include "replication/replica/replica.h"

namespace ingot {

void Replica::peer_died(EndpointId peer) {
  if (trees_) trees_->peer_died(peer);
  poll_peers();
}

// Acquire: pairs with the release of whoever tells. A death that is told of later is looked for then.
std::uint64_t Replica::deaths_told() const {
  std::uint64_t told = 0;
  for (const Counter* counter : {parts_.deaths, parts_.marks}) told += counter == nullptr ? 0 : counter->get_acquire();
  return told;
}

void Replica::poll_peers() {
  deaths_seen_ = deaths_told();
  peers_.poll([this](ReplicaIncarnation name) { peer_gone(name); });
}

// What it had sent may still be in its channel, and is handled when it comes.
void Replica::peer_gone(ReplicaIncarnation name) {
  if (parts_.incarnations != nullptr) {
    parts_.incarnations->gone(name.id);
  } else {
    parts_.transport->peer_gone(name.id);
  }
  outbox_.forget(name.id);
  snapshots_.peer_gone(name.id);
  if (trees_) trees_->peer_died(name.id);
  parts_.agreement->peer_died(name, effects_);
}

// A first look at the group: this replica may be new to it.
void Replica::meet_peers() {
  for (std::uint16_t peer = 0; peer < peers_.replicas(); ++peer) {
    const ReplicaIncarnation name = peers_.newest(EndpointId(peer));
    if (name.id != parts_.group.self && name.incarnation > Incarnation(1)) parts_.agreement->peer_started(name, effects_);
  }
  poll_peers();
}

void Replica::begin_incarnation(PeerIncarnation announced, std::shared_ptr<const Segment> stable) {
  INGOT_CHECK(parts_.incarnations != nullptr, "a replica without peer incarnations learns of no new ones");
  const ReplicaIncarnation name{announced.endpoint, announced.incarnation};
  if (!parts_.incarnations->announce(std::move(announced))) return;
  if (name.id.value() < parts_.group.replicas) {
    poll_peers();
    peers_.begin(name, std::move(stable), history_from(), [this](ReplicaIncarnation dead) { peer_gone(dead); });
  } else {
    outbox_.forget(name.id);
  }
}

int Replica::poll_incarnations() {
  if (parts_.incarnations == nullptr || !parts_.incarnations->waiting()) return 0;
  return parts_.incarnations->poll([this](EndpointId peer, Incarnation incarnation) { peer_back({peer, incarnation}); });
}

// The channel is with another incarnation now. A client's needs no more than that: it asks with numbers of its own.
void Replica::peer_back(ReplicaIncarnation name) {
  outbox_.revive(name.id);
  if (name.id.value() >= parts_.group.replicas) return;
  peers_.back(name, applier_.applied());
  parts_.agreement->peer_started(name, effects_);
  parts_.agreement->peer_drained(name.id, effects_);  // it has nothing of what was said so far
  poll_peers();                                    // it may be dead already
}

// Votes of earlier incarnations below it nobody needs.
Slot Replica::history_from() const {
  if (!parts_.agreement->reads_history()) return Slot(kSlotsMax);
  return snapshots_.kept() ? snapshots_.published() : Slot(0);
}

// Hands agreement the segments that it asked for. Once a poll, since it may ask for the same one again. Returns whether
// there was one to read.
bool Replica::read_segments() {
  bool found = false;
  if (std::exchange(wants_history_, false)) {
    peers_.read_all(applier_.applied(), [&](const StableView& view) { parts_.agreement->history(view, effects_); });
  }
  for (const ReplicaIncarnation& name : std::exchange(wanted_segments_, {})) {
    const auto view = peers_.read(name, applier_.applied());
    if (absl::IsFailedPrecondition(view.status())) continue;  // it may live, for all that is known here
    found = found || view.ok();
    parts_.agreement->salvaged(name, view.ok() ? &*view : nullptr, effects_);
  }
  execute_effects();
  return found;
}

// What a former leadership proposed may be decided or not: its clients ask again, here or elsewhere. Who does not lead
// any more also turns away those whose commands were never proposed.
void Replica::note_leadership(const AgreementStatus& status) {
  const Ballot leads = status.role == Role::kLeader ? status.ballot : Ballot(0);
  if (leads == leads_) return;
  leads_ = leads;
  batcher_.forget_proposals();
  window_.clear();
  window_bytes_ = 0;
  while (leads == Ballot(0) && !batcher_.empty()) {
    const auto batch = batcher_.take();
    const auto commands = decode_batch(*batch);
    for (const Request& command : *commands) {
      batcher_.decided(command);
      respond(command.reply_to, command.sequence, Response::Status::kNotLeader, {});
    }
  }
}

// In place of an responder that is away or silent the leader answers; should that one answer, too, the client drops the
// second.
bool Replica::answers(const Request& request) const {
  if (request.responder == parts_.group.self) return true;
  if (request.responder.value() >= parts_.group.replicas) return false;  // a tree change: nobody waits for it
  const bool missing = peers_.lagging(request.responder) || silent(request.responder);
  return missing && parts_.agreement->status().role == Role::kLeader;
}

// Whether nobody in the tree of `root` hangs from who is away: the dead pass nothing on, and who has come back does not
// know the trees in force before it has caught up.
bool Replica::tree_is_whole(EndpointId root) const {
  if (!trees_) return false;
  for (std::uint16_t peer = 0; peers_.any_lagging() && peer < parts_.group.replicas; ++peer) {
    if (peers_.lagging(EndpointId(peer)) && trees_->depends_on(root, EndpointId(peer))) return false;
  }
  return true;
}

// A tree is for what everybody waits for, and that one replica sends: the others' broadcasts are few, and must arrive
// when something is wrong. Nor is anything sent by way of the dead, until the group has agreed on another tree.
void Replica::broadcast(const std::shared_ptr<const std::string>& message) {
  if (tree_is_whole(parts_.group.self) && parts_.agreement->status().acceptor == parts_.group.self) {
    trees_->broadcast(*message, [this](EndpointId to, std::string_view bytes) { outbox_.send(to, bytes); });
    return;
  }
  for (std::uint16_t peer = 0; peer < parts_.group.replicas; ++peer) {
    if (EndpointId(peer) != parts_.group.self) outbox_.send(EndpointId(peer), message);
  }
}

}  // namespace ingot
