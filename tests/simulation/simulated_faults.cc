// What goes wrong in a simulated world, and how it is put right.
#include <algorithm>
#include <utility>

#include "core/check.h"
#include "tests/simulation/simulated_world.h"

namespace ingot::simulation {

namespace {
constexpr TimeNs kArmedNsMax = 3 * kMs;  // a victim that takes too few steps is crashed all the same
constexpr TimeNs kSnapshotRetryNs = kMs;
constexpr TimeNs kFenceNsMax = 500 * kUs;
constexpr TimeNs kPollNs = 50 * kUs;  // between two looks at whether the leader has proposed something
constexpr TimeNs kPromiseNsMax = 40 * kMs;  // until somebody promises something
}  // namespace

using FaultKind = Fault::Kind;
using Victims = Fault::Victims;

void SimulatedWorld::act(const Event& event) {
  using Kind = Event::Kind;
  if (event.kind == Kind::kFault) return begin(event.number);
  if (event.kind == Kind::kInject) {
    if (plan_.faults[event.number].victims == Victims::kPromiser) victims_[event.number].clear();  // nobody promised
    return inject(event.number);
  }
  if (event.kind == Kind::kEnd) return end(event.number, event.replica);
  if (event.kind == Kind::kFence) {
    --fences_open_;
    const int replica = event.name.id.value();
    if (group_.name_of(replica) != event.name || !group_.at(replica).node) return;
    trace("fenced");
    ++tally_.fences;
    kill(replica, false);
    return restart(replica, false);
  }
  Place& place = group_.at(event.replica);
  if (!place.node || place.incarnation != event.receiver) return;
  switch (event.kind) {
    case Kind::kDied:
      return place.node->input(
          [&](Agreement& agreement, Effects& effects) { agreement.peer_died(event.name, effects); });
    case Kind::kStarted:
      return place.node->input(
          [&](Agreement& agreement, Effects& effects) { agreement.peer_started(event.name, effects); });
    case Kind::kSalvaged:
      ++tally_.salvages;
      return place.node->input([&](Agreement& agreement, Effects& effects) {
        agreement.salvaged(event.name, group_.segment_of(event.name).get(), effects);
      });
    case Kind::kHistory:
      if (const auto view = group_.content_of(event.name)) {
        place.node->input([&](Agreement& agreement, Effects& effects) { agreement.history(*view, effects); });
      }
      return;
    case Kind::kAskPeer:
      return ask_for_snapshot(event.replica);
    case Kind::kInstall:
      ++tally_.snapshots;
      asks_for_snapshot_[static_cast<std::size_t>(event.replica)] = false;
      return place.node->install(event.snapshot);
    default:
      INGOT_CHECK(false, "an event has one of these kinds");
  }
}

// ---- Faults ---------------------------------------------------------------------------------------------------------

void SimulatedWorld::begin(std::size_t number) {
  const Fault& fault = plan_.faults[number];
  if (fault.victims == Victims::kPromiser) return await_promise(number);
  victims_[number] = choose_victims(fault);
  const bool injects = fault.kind == FaultKind::kKill || fault.kind == FaultKind::kStop;
  if (!injects || victims_[number].empty()) return inject(number);
  const auto& victims = victims_[number];
  armed_.push_back({number, victims[fault.pick % victims.size()], fault.steps});
  post({.at = now_ + 1 + prng_.below(kArmedNsMax), .kind = Event::Kind::kInject, .number = number});
}

// A voter is asked to lead while a proposal of the leader is on its way, slowly. The news to the leader takes longer, and
// what the leader still says to its successor longest: so it goes on, and reaches those who have promised.
void SimulatedWorld::await_promise(std::size_t number) {
  if (injected_faults_[number]) return;
  const Fault& fault = plan_.faults[number];
  if (victims_[number].empty()) {
    post({.at = now_ + kPromiseNsMax, .kind = Event::Kind::kInject, .number = number});
    victims_[number] = {group_.leader()};
    for (int peer = 0; victims_[number][0] >= 0 && peer < group_.replicas(); ++peer) {
      network.slow_down(victims_[number][0], peer, fault.slow_ns, now_ + kPromiseNsMax);
    }
  }
  const int leader = victims_[number][0];
  const int next = (leader + 1 + static_cast<int>(fault.pick % 64)) % group_.voters();
  if (leader < 0 || leader == next || !group_.at(leader).runs() || !group_.at(next).runs()) return;
  const AgreementStatus status = group_.at(leader).node->agreement().status();
  if (status.proposed <= status.decided) return post({.at = now_ + kPollNs, .kind = Event::Kind::kFault, .number = number});
  wait_for_promise_.push_back({number, -1, fault.steps});
  network.slow_down(leader, next, kPromiseNsMax, now_ + kPromiseNsMax);
  network.slow_down(next, leader, 2 * fault.slow_ns, now_ + kPromiseNsMax);
  group_.at(next).node->input([&](Agreement& agreement, Effects& effects) {
    const bool begun = agreement.move(Role::kLeader, EndpointId(static_cast<std::uint16_t>(next)), effects).ok();
    trace("leader to replica " + std::to_string(next) + (begun ? ": begun" : ": refused"));
  });
}

bool SimulatedWorld::promised(int replica) {
  for (std::size_t i = 0; i < wait_for_promise_.size(); ++i) {
    if (wait_for_promise_[i].steps-- > 0) continue;
    const std::size_t fault = wait_for_promise_[i].fault;
    victims_[fault] = {replica};
    inject(fault);
    return !group_.at(replica).runs();
  }
  return false;
}

bool SimulatedWorld::at_crash_point(int replica) {
  ++steps;
  for (std::size_t i = 0; i < armed_.size(); ++i) {
    if (armed_[i].replica != replica || armed_[i].steps-- > 0) continue;
    inject(armed_[i].fault);
    return !group_.at(replica).runs();
  }
  return false;
}

// An empty list: nobody qualifies.
std::vector<int> SimulatedWorld::choose_victims(const Fault& fault) {
  const int leader = group_.leader();
  const int acceptor = group_.acceptor();
  std::vector<int> chosen;
  switch (fault.victims) {
    case Victims::kAnybody:
      chosen = {choose_any(fault, false)};
      break;
    case Victims::kBystander:
      chosen = {choose_any(fault, true)};
      break;
    case Victims::kLeader:
      chosen = {leader};
      break;
    case Victims::kAcceptor:
      chosen = {acceptor};
      break;
    case Victims::kLeaderAndAcceptor:
    case Victims::kKillLeaderStopAcceptor:
      chosen = {leader, acceptor};
      break;
    case Victims::kPromiser:  // await_promise
      break;
    case Victims::kEverybody:
      for (int replica = 0; replica < group_.replicas(); ++replica) chosen.push_back(replica);
      break;
  }
  std::erase_if(chosen, [&](int replica) {
    return replica < 0 || !group_.at(replica).node || (fault.kind == FaultKind::kStop && group_.at(replica).stopped);
  });
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

int SimulatedWorld::choose_any(const Fault& fault, bool bystander) const {
  std::vector<int> candidates;
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    const bool role = replica == group_.leader() || replica == group_.acceptor();
    if (group_.at(replica).node && !(bystander && role)) candidates.push_back(replica);
  }
  return candidates.empty() ? -1 : candidates[fault.pick / 64 % candidates.size()];
}

void SimulatedWorld::inject(std::size_t number) {
  if (injected_faults_[number]) return;
  injected_faults_[number] = true;
  const auto over = [&](const Armed& armed) { return armed.fault == number; };
  std::erase_if(armed_, over);
  std::erase_if(wait_for_promise_, over);
  const Fault& fault = plan_.faults[number];
  if (traces()) trace("fault: " + describe(fault));
  switch (fault.kind) {
    case FaultKind::kMoveLeader:
      move(fault, Role::kLeader);
      return close(number);
    case FaultKind::kMoveAcceptor:
      move(fault, Role::kAcceptor);
      return close(number);
    case FaultKind::kPressure:
      pressed = true;
      ++tally_.faults[static_cast<std::size_t>(fault.kind)];
      break;
    case FaultKind::kSlowLink:
      slow_down(fault);
      break;
    case FaultKind::kKill:
    case FaultKind::kStop:
      if (take_down(number)) return;
      slow_down(fault);  // nobody was there to be crashed
      break;
  }
  open_ends_[number] = 1;
  post({.at = now_ + fault.lasts_ns, .kind = Event::Kind::kEnd, .number = number});
}

// False: none of the victims is up any more.
bool SimulatedWorld::take_down(std::size_t number) {
  const Fault& fault = plan_.faults[number];
  int taken = 0;
  for (std::size_t i = 0; i < victims_[number].size(); ++i) {
    const int victim = victims_[number][i];
    const bool kills = fault.kind == FaultKind::kKill && !(fault.victims == Victims::kKillLeaderStopAcceptor && i > 0);
    if (!group_.at(victim).node || (!kills && group_.at(victim).stopped)) continue;
    ++taken;
    if (kills) {
      kill(victim, fault.fresh_inbox);
    } else {
      stop(victim);
    }
    post({.at = now_ + fault.lasts_ns + (i > 0 ? prng_.below(fault.lasts_ns + 1) : 0),
          .kind = Event::Kind::kEnd,
          .replica = victim,
          .number = number,
          .receiver = group_.at(victim).incarnation});
  }
  open_ends_[number] = taken;
  if (taken == 0) return false;
  ++tally_.faults[static_cast<std::size_t>(fault.kind)];
  const bool both = fault.victims == Victims::kLeaderAndAcceptor || fault.victims == Victims::kKillLeaderStopAcceptor;
  if (both && taken == 2) ++tally_.both_lost;
  if (fault.victims == Victims::kEverybody) ++tally_.everybody_lost;
  return true;
}

void SimulatedWorld::slow_down(const Fault& fault) {
  ++tally_.faults[static_cast<std::size_t>(FaultKind::kSlowLink)];
  const int one = static_cast<int>(fault.pick % static_cast<std::uint64_t>(group_.replicas()));
  const bool inwards = (fault.pick >> 32 & 1) != 0;
  const bool single = (fault.pick >> 33 & 1) != 0;
  const int other = static_cast<int>((fault.pick >> 40) % static_cast<std::uint64_t>(group_.replicas()));
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    if (peer == one || (single && peer != other)) continue;
    network.slow_down(inwards ? peer : one, inwards ? one : peer, fault.slow_ns, now_ + fault.lasts_ns);
  }
}

void SimulatedWorld::move(const Fault& fault, Role role) {
  const int to = static_cast<int>(fault.pick % static_cast<std::uint64_t>(group_.voters()));
  const int asked = role == Role::kLeader ? to : group_.leader();
  if (asked < 0 || !group_.at(asked).runs()) return slow_down(fault);
  group_.at(asked).node->input([&](Agreement& agreement, Effects& effects) {
    const bool begun = agreement.move(role, EndpointId(static_cast<std::uint16_t>(to)), effects).ok();
    ++(begun ? tally_.faults[static_cast<std::size_t>(fault.kind)] : tally_.refused_moves);
    if (!begun) slow_down(fault);  // every seed has its share of faults
    trace(std::string(role == Role::kLeader ? "leader" : "acceptor") + " to replica " + std::to_string(to) +
          (begun ? ": begun" : ": refused"));
  });
}

void SimulatedWorld::end(std::size_t number, int replica) {
  const Fault& fault = plan_.faults[number];
  if (fault.kind == FaultKind::kPressure) pressed = false;
  if (replica >= 0) {
    Place& place = group_.at(replica);
    if (!place.node && fault.for_good && may_stay_dead(replica)) {
      trace("replica " + std::to_string(replica) + " stays dead");
      ++tally_.dead_for_good;
      dead_voters_ += replica < group_.voters() ? 1 : 0;
    } else if (!place.node) {
      restart(replica, fault.from_published);
    } else if (place.stopped) {
      place.stopped = false;
      trace("replica " + std::to_string(replica) + " goes on");
    }
  }
  if (--open_ends_[number] == 0) close(number);
}

void SimulatedWorld::close(std::size_t) { --faults_open_; }

// A majority of the voters runs in the end, whatever happens to the others.
bool SimulatedWorld::may_stay_dead(int replica) const {
  return replica >= group_.voters() || 2 * (dead_voters_ + 1) < group_.voters();
}

// ---- Lives ----------------------------------------------------------------------------------------------------------

void SimulatedWorld::kill(int replica, bool fresh_inbox) {
  const ReplicaIncarnation name = group_.name_of(replica);
  trace("replica " + std::to_string(replica) + " dies");
  graveyard_.push_back(group_.end(replica));
  alive[static_cast<std::size_t>(replica)] = false;
  network.died(replica);
  if (fresh_inbox) network.forget_inbox(replica);
  asks_for_snapshot_[static_cast<std::size_t>(replica)] = false;
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    if (peer != replica && group_.at(peer).node) tell(peer, Event::Kind::kDied, name);
  }
}

void SimulatedWorld::stop(int replica) {
  trace("replica " + std::to_string(replica) + " is stopped");
  group_.at(replica).stopped = true;
  if (options_.mutant != Mutant::kSalvageOfTheLiving) return;
  group_.bury_alive(replica);
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    if (peer != replica && group_.at(peer).node) tell(peer, Event::Kind::kDied, group_.name_of(replica));
  }
}

void SimulatedWorld::tell(int replica, Event::Kind kind, ReplicaIncarnation name) {
  post({.at = now_ + prng_.below(plan_.notice_ns_max),
        .kind = kind,
        .replica = replica,
        .name = name,
        .receiver = group_.at(replica).incarnation});
}

void SimulatedWorld::restart(int replica, bool from_published) {
  ++tally_.restarts;
  checkers.log.born(replica);
  checkers.effects.born(replica);
  applied_pages[static_cast<std::size_t>(replica)] = Slot(0);
  group_.start(replica, *this);
  alive[static_cast<std::size_t>(replica)] = true;
  const ReplicaIncarnation name = group_.name_of(replica);
  trace("replica " + std::to_string(replica) + " starts as incarnation " + std::to_string(name.incarnation.value()));
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    if (peer == replica) continue;
    if (group_.at(peer).node) {
      tell(peer, Event::Kind::kStarted, name);
      tell(replica, Event::Kind::kStarted, group_.name_of(peer));
    } else {
      tell(replica, Event::Kind::kDied, group_.name_of(peer));
    }
  }
  bool others_know = false;
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    const auto& node = group_.at(peer).node;
    others_know = others_know || (peer != replica && node && node->applied() >= published_below());
  }
  if (published_ && (from_published || !others_know)) group_.at(replica).node->install(published_);
}

void SimulatedWorld::salvage(int replica, ReplicaIncarnation name) {
  if (group_.segment_of(name) == nullptr) return;  // not dead, or never alive: the caller does not look
  tell(replica, Event::Kind::kSalvaged, name);
}

void SimulatedWorld::history(int replica) {
  ++tally_.histories;
  for (std::uint16_t id = 0; id < group_.replicas(); ++id) {
    for (Incarnation incarnation(1); incarnation <= group_.name_of(id).incarnation; incarnation = incarnation.next()) tell(replica, Event::Kind::kHistory, {EndpointId(id), incarnation});
  }
}

void SimulatedWorld::fence(ReplicaIncarnation name) {
  if (!plan_.fencing || !group_.at(name.id.value()).stopped) return;
  ++fences_open_;
  post({.at = now_ + prng_.below(kFenceNsMax), .kind = Event::Kind::kFence, .name = name});
}

void SimulatedWorld::publish(Snapshot snapshot) {
  INGOT_CHECK(snapshot.applied > published_below(), "what was published is not taken back");
  published_ = std::make_shared<const Snapshot>(std::move(snapshot));
}

// A running peer that knows more gives its state, sealed, since the receiver can carry nothing below it to anybody; or
// the supervisor, what it holds; else it is tried again.
void SimulatedWorld::ask_for_snapshot(int replica) {
  const Slot applied = group_.at(replica).node->applied();
  std::vector<int> donors;
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    if (peer != replica && group_.at(peer).runs() && group_.at(peer).node->applied() > applied) donors.push_back(peer);
  }
  std::shared_ptr<const Snapshot> snapshot;
  if (!donors.empty()) {
    const int donor = donors[prng_.below(donors.size())];
    if (group_.at(donor).node->applied() > published_below()) publish(group_.at(donor).node->take_snapshot());
    snapshot = published_;
  } else if (published_below() > applied) {
    snapshot = published_;
  }
  const TimeNs delay = snapshot ? prng_.below(plan_.snapshot_ns_max) : kSnapshotRetryNs;
  post({.at = now_ + delay,
        .kind = snapshot ? Event::Kind::kInstall : Event::Kind::kAskPeer,
        .replica = replica,
        .receiver = group_.at(replica).incarnation,
        .snapshot = snapshot});
}

}  // namespace ingot::simulation
