// How the replicas of a simulated world begin and end, and what its supervisor and kernel tell whom, when.
#include <utility>

#include "core/rule.h"
#include "tests/simulation/simulated_world.h"

namespace ingot::simulation {

namespace {
constexpr TimeNs kFenceNsMax = 500 * kUs;
}  // namespace

void SimulatedWorld::kill(int replica, bool fresh_inbox) {
  trace("replica " + std::to_string(replica) + " dies");
  graveyard_.push_back(group_.end(replica));
  tally_.dropped += graveyard_.back()->dropped();
  if (fresh_inbox) network.forget_inbox(replica);
  tell_all_of(replica, Notice::Kind::kDied);
}

void SimulatedWorld::stop(int replica) {
  trace("replica " + std::to_string(replica) + " is stopped");
  group_.at(replica).stopped = true;
  tell_some_of(replica, Notice::Kind::kStopped);
  if (left_out != "salvage-the-dead") return;
  group_.at(replica).segment->marked_dead = true;
  tell_all_of(replica, Notice::Kind::kDied);
}

void SimulatedWorld::go_on(int replica) {
  trace("replica " + std::to_string(replica) + " goes on");
  group_.at(replica).stopped = false;
  tell_some_of(replica, Notice::Kind::kContinued);
}

// The notices of one process need not come in the order of the events. It may so believe for good that a running
// replica is stopped.
void SimulatedWorld::tell_some_of(int replica, Notice::Kind kind) {
  const Notice notice{.kind = kind, .name = group_.name_of(replica)};
  for (int endpoint = 0; endpoint < group_.replicas() + static_cast<int>(clients_.size()); ++endpoint) {
    const bool exists = endpoint >= group_.replicas() || group_.at(endpoint).replica;
    if (endpoint == replica || !exists || !prng_.chance(plan_.stops_told)) continue;
    tell(endpoint, notice, plan_.stop_notice_ns_max);
    if (kind == Notice::Kind::kStopped) ++tally_.stops_told;
  }
}

// Every other process gets the notice, each at its own time.
void SimulatedWorld::tell_all_of(int replica, Notice::Kind kind) {
  const Notice notice{.kind = kind, .name = group_.name_of(replica), .segment = group_.at(replica).segment};
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    if (peer != replica && group_.at(peer).replica) tell(peer, notice, plan_.notice_ns_max);
  }
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    tell(group_.replicas() + static_cast<int>(client), notice, plan_.notice_ns_max);
  }
}

void SimulatedWorld::tell(int endpoint, Notice notice, TimeNs ns_max) {
  post({.at = now_ + prng_.below(ns_max),
        .kind = Event::Kind::kNotice,
        .replica = endpoint,
        .receiver = endpoint < group_.replicas() ? group_.at(endpoint).incarnation : Incarnation(0),
        .notice = std::move(notice)});
}

// The supervisor reads what a process has sent before it acts on its death.
void SimulatedWorld::take_sent(int replica) {
  const PublishedSnapshot sent = std::exchange(sent_snapshots_[static_cast<std::size_t>(replica)], nullptr);
  if (sent != nullptr) take_published(sent);
}

// The replica accepts the newest incarnations of all others; they accept its messages once they have switched to it.
void SimulatedWorld::restart(int replica, bool from_published) {
  ++tally_.restarts;
  checkers.log.born(replica);
  checkers.effects.born(replica);
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    accepted_[static_cast<std::size_t>(replica)][static_cast<std::size_t>(peer)] = group_.at(peer).incarnation;
  }
  group_.begin(replica);
  group_.start(replica, from_published || !others_know(replica) ? published_ : nullptr);
  trace("replica " + std::to_string(replica) + " starts as incarnation " +
        std::to_string(group_.at(replica).incarnation.value()));
  tell_all_of(replica, Notice::Kind::kBegins);
  release_segments();
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    if (group_.at(peer).replica) continue;
    tell(replica, {.kind = Notice::Kind::kDied, .name = group_.name_of(peer)}, plan_.notice_ns_max);
  }
}

bool SimulatedWorld::accepts(int replica, ReplicaIncarnation name) const {
  return accepted_[static_cast<std::size_t>(replica)][name.id.value()] == name.incarnation;
}

void SimulatedWorld::gone_over(int replica, ReplicaIncarnation name) {
  accepted_[static_cast<std::size_t>(replica)][name.id.value()] = name.incarnation;
  Place& place = group_.at(name.id.value());
  if (place.replica && place.incarnation == name.incarnation) place.replica->accepted_by(group_.name_of(replica).id);
}

void SimulatedWorld::answer_later(int replica, Notice notice) {
  TimeNs ns_max = plan_.notice_ns_max;
  if (notice.kind == Notice::Kind::kDecoded) ns_max = plan_.decode_ns_max;
  if (notice.kind == Notice::Kind::kWritten) {
    ns_max = plan_.write_ns_max;
    ++tally_.written;
    if (prng_.chance(plan_.snapshot_fails)) notice.snapshot = nullptr;
  }
  post({.at = now_ + prng_.below(ns_max),
        .kind = Event::Kind::kNotice,
        .replica = replica,
        .receiver = group_.at(replica).incarnation,
        .notice = std::move(notice)});
}

bool SimulatedWorld::fence(ReplicaIncarnation name) {
  const Place& place = group_.at(name.id.value());
  if (!place.stopped || !place.replica || place.incarnation != name.incarnation) return false;
  ++fences_open_;
  post({.at = now_ + prng_.below(kFenceNsMax), .kind = Event::Kind::kFence, .name = name});
  return true;
}

void SimulatedWorld::publish(int replica, PublishedSnapshot snapshot) {
  const TimeNs at = now_ + prng_.below(plan_.publish_ns_max);
  sent_snapshots_[static_cast<std::size_t>(replica)] = snapshot;
  post({.at = at, .kind = Event::Kind::kPublished, .snapshot = std::move(snapshot)});
}

}  // namespace ingot::simulation
