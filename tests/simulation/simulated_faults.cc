// The faults of a simulated world, and how each ends.
#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "tests/simulation/simulated_world.h"

namespace ingot::simulation {

namespace {
constexpr TimeNs kArmedNsMax = 3 * kMs;  // a victim that takes too few steps is crashed all the same
constexpr TimeNs kPollNs = 50 * kUs;  // between two looks at whether the leader has proposed something
constexpr TimeNs kPromiseNsMax = 40 * kMs;  // until a replica promises something

// Whether the victim is who sends a message of some kind.
bool awaits_message(Fault::Victims victims) {
  return victims == Fault::Victims::kPromiser || victims == Fault::Victims::kAuthor;
}

bool awaits_message(Fault::Victims victims, MessageType type) {
  if (victims == Fault::Victims::kAuthor) return type == MessageType::kConfigDecided;
  return type == MessageType::kPromise || type == MessageType::kConfigPromise;
}

}  // namespace

using FaultKind = Fault::Kind;
using Victims = Fault::Victims;

void SimulatedWorld::act(const Event& event) {
  using Kind = Event::Kind;
  if (event.kind == Kind::kFault) return begin(event.number);
  if (event.kind == Kind::kInject) {
    if (awaits_message(plan_.faults[event.number].victims)) victims_[event.number].clear();  // none was sent
    return inject(event.number);
  }
  if (event.kind == Kind::kEnd) return end(event.number, event.replica);
  if (event.kind == Kind::kFence) return end_fenced(event.name);
  if (event.kind == Kind::kPublished) return take_published(event.snapshot);
  INGOT_CHECK(event.kind == Kind::kNotice, "an event has one of these kinds");
  if (event.replica >= group_.replicas()) {
    return clients_[static_cast<std::size_t>(event.replica - group_.replicas())].note(event.notice);
  }
  Place& place = group_.at(event.replica);
  if (!place.replica || place.incarnation != event.receiver) return;
  if (event.notice.kind == Notice::Kind::kSegment) ++tally_.salvages;
  if (event.notice.kind == Notice::Kind::kHistory) ++tally_.histories;
  place.replica->note(event.notice);
}

void SimulatedWorld::end_fenced(ReplicaIncarnation name) {
  --fences_open_;
  const int replica = name.id.value();
  if (group_.name_of(replica) != name || !group_.at(replica).replica) return;
  trace("fenced");
  ++tally_.fences;
  kill(replica, false);
  take_sent(replica);
  restart(replica, false);
}

// Of published snapshots the newest wins.
void SimulatedWorld::take_published(const PublishedSnapshot& snapshot) {
  if (snapshot->name.slot <= published_below()) return;
  ++tally_.published;
  published_ = snapshot;
  release_segments();
}

// As the supervisor does after each publication and each restart.
void SimulatedWorld::release_segments() {
  const std::size_t released = group_.release();
  tally_.released += released;
  const std::size_t bytes = group_.waiting_bytes();
  const bool full = bytes > plan_.kept_bytes;
  if (full && kept_segments_ != KeptSegments::kFull) ++tally_.kept_full;
  kept_segments_ = full ? KeptSegments::kFull : bytes > plan_.kept_bytes / 2 ? KeptSegments::kMany : KeptSegments::kFew;
  for (int replica = 0; released > 0 && replica < group_.replicas(); ++replica) {
    tell_all_of(replica, Notice::Kind::kReleased);
  }
}

// ---- Faults ---------------------------------------------------------------------------------------------------------

void SimulatedWorld::begin(std::size_t number) {
  const Fault& fault = plan_.faults[number];
  if (fault.victims == Victims::kPromiser) return await_promise(number);
  if (fault.victims == Victims::kAuthor) return await_entry(number);
  victims_[number] = choose_victims(fault);
  const bool injects = fault.kind == FaultKind::kKill || fault.kind == FaultKind::kStop;
  if (!injects || victims_[number].empty()) return inject(number);
  const auto& victims = victims_[number];
  armed_.push_back({number, victims[fault.pick % victims.size()], fault.steps});
  post({.at = now_ + 1 + prng_.below(kArmedNsMax), .kind = Event::Kind::kInject, .number = number});
}

// A voter is asked to lead while a slow proposal of the leader is on its way. The voter's messages to the leader take
// longer, and the leader's messages to that voter longest: so the leader goes on, and its proposals reach replicas that
// have promised to the voter.
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
  const AgreementStatus status = group_.at(leader).replica->agreement().status();
  if (status.proposed <= status.decided) {
    return post({.at = now_ + kPollNs, .kind = Event::Kind::kFault, .number = number});
  }
  wait_for_message_.push_back({number, -1, fault.steps});
  network.slow_down(leader, next, kPromiseNsMax, now_ + kPromiseNsMax);
  network.slow_down(next, leader, 2 * fault.slow_ns, now_ + kPromiseNsMax);
  group_.at(next).replica->note({.kind = Notice::Kind::kMove,
                                 .role = Role::kLeader,
                                 .to = EndpointId(static_cast<std::uint16_t>(next)),
                                 .fault = number});
}

// A role is moved; the replica whose entry of the configuration log was chosen is crashed while it tells the others.
void SimulatedWorld::await_entry(std::size_t number) {
  const Fault& fault = plan_.faults[number];
  post({.at = now_ + kPromiseNsMax, .kind = Event::Kind::kInject, .number = number});
  wait_for_message_.push_back({number, -1, fault.steps});
  move(number, fault.pick % 64 < 32 ? Role::kLeader : Role::kAcceptor);
}

bool SimulatedWorld::has_sent(int replica, MessageType type) {
  for (std::size_t i = 0; i < wait_for_message_.size(); ++i) {
    const std::size_t fault = wait_for_message_[i].fault;
    if (!awaits_message(plan_.faults[fault].victims, type) || wait_for_message_[i].steps-- > 0) continue;
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

// Empty: no replica qualifies.
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
    case Victims::kMost:
      chosen = choose_most(fault);
      break;
    case Victims::kPromiser:  // await_promise
    case Victims::kAuthor:    // await_entry
      break;
    case Victims::kEverybody:
      for (int replica = 0; replica < group_.replicas(); ++replica) chosen.push_back(replica);
      break;
  }
  std::erase_if(chosen, [&](int replica) {
    return replica < 0 || !group_.at(replica).replica || (fault.kind == FaultKind::kStop && group_.at(replica).stopped);
  });
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::vector<int> SimulatedWorld::choose_most(const Fault& fault) const {
  const int survivor = static_cast<int>(fault.pick % static_cast<std::uint64_t>(group_.replicas()));
  const bool all_others = (fault.pick >> 63 & 1) != 0;
  std::vector<int> chosen;
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    const bool drawn = (fault.pick >> (8 + replica % 48) & 1) != 0;
    if (replica != survivor && (all_others || drawn)) chosen.push_back(replica);
  }
  return chosen;
}

int SimulatedWorld::choose_any(const Fault& fault, bool bystander) const {
  std::vector<int> candidates;
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    const bool role = replica == group_.leader() || replica == group_.acceptor();
    if (group_.at(replica).replica && !(bystander && role)) candidates.push_back(replica);
  }
  return candidates.empty() ? -1 : candidates[fault.pick / 64 % candidates.size()];
}

void SimulatedWorld::inject(std::size_t number) {
  if (injected_faults_[number]) return;
  injected_faults_[number] = true;
  const auto over = [&](const Armed& armed) { return armed.fault == number; };
  std::erase_if(armed_, over);
  std::erase_if(wait_for_message_, over);
  const Fault& fault = plan_.faults[number];
  if (traces()) trace("fault: " + describe(fault));
  switch (fault.kind) {
    case FaultKind::kMoveLeader:
      move(number, Role::kLeader);
      return close(number);
    case FaultKind::kMoveAcceptor:
      move(number, Role::kAcceptor);
      return close(number);
    case FaultKind::kPressure:
      pressed = true;
      ++tally_.faults[static_cast<std::size_t>(fault.kind)];
      break;
    case FaultKind::kSlowLink:
      slow_down(fault);
      break;
    case FaultKind::kDoubt:
      doubt(number, Notice::Kind::kStopped);
      ++tally_.faults[static_cast<std::size_t>(fault.kind)];
      break;
    case FaultKind::kKill:
    case FaultKind::kStop:
      if (take_down(number)) return;
      slow_down(fault);  // no replica was up to be crashed
      break;
  }
  open_ends_[number] = 1;
  post({.at = now_ + fault.lasts_ns, .kind = Event::Kind::kEnd, .number = number});
}

// False: no victim is up any more.
bool SimulatedWorld::take_down(std::size_t number) {
  const Fault& fault = plan_.faults[number];
  int taken = 0;
  for (std::size_t i = 0; i < victims_[number].size(); ++i) {
    const int victim = victims_[number][i];
    const bool kills = fault.kind == FaultKind::kKill && !(fault.victims == Victims::kKillLeaderStopAcceptor && i > 0);
    if (!group_.at(victim).replica || (!kills && group_.at(victim).stopped)) continue;
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

void SimulatedWorld::doubt(std::size_t number, Notice::Kind kind) {
  for (const int victim : victims_[number]) {
    if (group_.at(victim).runs()) tell_some_of(victim, kind);
  }
}

void SimulatedWorld::move(std::size_t number, Role role) {
  const Fault& fault = plan_.faults[number];
  const int to = static_cast<int>(fault.pick % static_cast<std::uint64_t>(group_.voters()));
  const int asked = role == Role::kLeader ? to : group_.leader();
  if (asked < 0 || !group_.at(asked).runs()) return slow_down(fault);
  group_.at(asked).replica->note({.kind = Notice::Kind::kMove,
                                  .role = role,
                                  .to = EndpointId(static_cast<std::uint16_t>(to)),
                                  .fault = number});
}

// A move that is refused slows a link down instead, so that each seed keeps its number of faults.
void SimulatedWorld::move_answered(std::size_t number, bool begun) {
  const Fault& fault = plan_.faults[number];
  trace(describe(fault) + (begun ? ": begun" : ": refused"));
  if (fault.kind != FaultKind::kMoveLeader && fault.kind != FaultKind::kMoveAcceptor) return;
  ++(begun ? tally_.faults[static_cast<std::size_t>(fault.kind)] : tally_.refused_moves);
  if (!begun) slow_down(fault);
}

void SimulatedWorld::end(std::size_t number, int replica) {
  const Fault& fault = plan_.faults[number];
  if (fault.kind == FaultKind::kPressure) pressed = false;
  if (fault.kind == FaultKind::kDoubt) doubt(number, Notice::Kind::kContinued);
  if (replica >= 0) {
    Place& place = group_.at(replica);
    if (!place.replica) take_sent(replica);
    if (!place.replica && fault.for_good && may_stay_dead(replica)) {
      trace("replica " + std::to_string(replica) + " stays dead");
      ++tally_.dead_for_good;
      dead_voters_ += replica < group_.voters() ? 1 : 0;
    } else if (!place.replica) {
      restart(replica, fault.from_published);
    } else if (place.stopped) {
      go_on(replica);
    }
  }
  if (--open_ends_[number] == 0) close(number);
}

void SimulatedWorld::close(std::size_t) { --faults_open_; }

// A majority of the voters runs in the end, even if other replicas stay dead; and another replica has applied all slots
// that may be trimmed.
bool SimulatedWorld::may_stay_dead(int replica) const {
  return (replica >= group_.voters() || 2 * (dead_voters_ + 1) < group_.voters()) && others_know(replica);
}

// Whether another replica has applied what the newest published snapshot holds.
bool SimulatedWorld::others_know(int replica) const {
  for (int peer = 0; peer < group_.replicas(); ++peer) {
    const auto& other = group_.at(peer).replica;
    if (peer != replica && other && other->applied() >= published_below()) return true;
  }
  return false;
}

}  // namespace ingot::simulation
