#include "replication/agreement/one_paxos/reconfiguration.h"

#include <algorithm>

#include "core/rule.h"

namespace ingot::inline replication_agreement_one_paxos {

OnePaxosReconfiguration::OnePaxosReconfiguration(OnePaxosState& state, OnePaxosTakeover& takeover,
                                                 OnePaxosStateRecovery& recovery)
    : state_(state),
      takeover_(takeover),
      recovery_(recovery),
      leader_watch_(state.group.bounds.suspect_ticks),
      acceptor_watch_(state.group.bounds.suspect_ticks),
      last_leader_(state.now().leader),
      last_acceptor_(state.now().acceptor) {
  read_tip_ = state.log.tip();
}

void OnePaxosReconfiguration::step(Effects& effects) {
  if (read_tip_ != state_.log.tip()) read_log(effects);
  takeover_.step(effects);
  if (state_.leads(state_.self())) act_as_leader(effects);
  else if (!leader_is_gone()) rank_ticks_ = 0;
  else if (rank_ticks_ >= rank() * state_.group.bounds.suspect_ticks / 2) {
    const ReplicaIncarnation leader = state_.now().leader;
    campaign(state_.peers.dead(leader) ? ReplicaIncarnation{} : leader, effects);
  }
}

// Dead, or stopped as the kernel says: it does not answer, whether or not a client waits.
bool OnePaxosReconfiguration::leader_is_gone() const {
  const ReplicaIncarnation leader = state_.now().leader;
  return leader != state_.self() && (state_.peers.dead(leader) || state_.peers.doubted(leader.id));
}

// A role has moved though the replica that had it neither died nor was reported stopped.
bool OnePaxosReconfiguration::moved_unexplained(ReplicaIncarnation last, ReplicaIncarnation now) const {
  return now != last && !state_.peers.dead(last) && !state_.peers.reported_stopped(last.id);
}

// Only the log determines the leader: neither proposals nor other replicas' opinions do.
void OnePaxosReconfiguration::read_log(Effects& effects) {
  read_tip_ = state_.log.tip();
  if (moved_unexplained(last_leader_, state_.now().leader)) leader_watch_.count_timeout();
  if (moved_unexplained(last_acceptor_, state_.now().acceptor)) acceptor_watch_.count_timeout();
  deposed_ = deposed_ || last_leader_ == state_.self();
  last_leader_ = state_.now().leader;
  last_acceptor_ = state_.now().acceptor;
  suspected_ = {};
  no_candidate_ = acceptor_silent_ = false;
  rank_ticks_ = 0;
  fence_ticks_ = 0;
  leader_watch_.stop();
  acceptor_watch_.stop();
  recovery_.reset();
  takeover_.cancel();
  const bool epoch_begins = state_.log.tip() == state_.log.epoch().value();
  if (epoch_begins && state_.now().acceptor == state_.self() && !INGOT_RULE("prepare-activates")) {
    state_.acceptor.begin(state_.log.epoch(), state_.now().base);
  }
  state_.learn_in_flight(effects);
  if (state_.leads(state_.self()) && renounced_ <= read_tip_) {
    deposed_ = false;
    state_.leader.set_leader_hint(state_.group.self);
    takeover_.begin(effects);
    return;
  }
  state_.leader.step_down(state_.now().leader.id, effects);
}

// ---- As leader, or taking over --------------------------------------------------------------------------------------

// The author of this epoch's AcceptorChange, before it leads: no replica can have stored anything in the epoch.
bool OnePaxosReconfiguration::is_author() const {
  return takeover_.active() && state_.log.tip() == state_.log.epoch().value() && !state_.has_led();
}

// This replica knows all that the acceptor can have stored, without its answer.
bool OnePaxosReconfiguration::may_change_acceptor() const {
  const bool has_led = state_.has_led() || !INGOT_RULE("knows-first");
  return state_.leader.leading() || is_author() || (takeover_.active() && has_led);
}

void OnePaxosReconfiguration::act_as_leader(Effects& effects) {
  const bool answered = suspected_ == state_.now().acceptor && !state_.peers.suspected(suspected_.id);
  if (answered && state_.log.committed() && !INGOT_RULE("stays-frozen")) {
    state_.log.give_up();
    takeover_.begin(effects);
  }
  // A later takeover must not use what it found.
  if (state_.leader.leading() && recovery_.begun() && INGOT_RULE("found-is-forgotten")) recovery_.reset();
  if (state_.log.committed()) return;
  const bool dead = state_.peers.dead(state_.now().acceptor);
  if (!dead && acceptor_is_doubted()) replace_silent_acceptor(effects);
  if (dead && may_change_acceptor()) {
    change_acceptor(state_.group.self, {}, effects);
  } else if (takeover_.active()) {
    if (dead && INGOT_RULE("salvage")) recovery_.salvage(effects);
    if (recovery_.complete(effects)) change_acceptor(state_.group.self, {}, effects);
  }
}

// The kernel has reported it stopped, and not the replica that would be the next. Two that are both doubted, and run,
// would get the role in turns for as long as the doubts are told; if they are stopped, no majority could change it.
bool OnePaxosReconfiguration::acceptor_is_doubted() const {
  return state_.peers.doubted(state_.now().acceptor.id) && !state_.peers.reported_stopped(candidate().id);
}

void OnePaxosReconfiguration::replace_silent_acceptor(Effects& effects) {
  if (may_change_acceptor()) change_acceptor(state_.group.self, state_.now().acceptor, effects);
  else if (INGOT_RULE("walk-back")) recovery_.walk_back(effects);
}

// The best voter that is up: first one that is not suspected, then one that has caught up. A joining replica may still
// load its state; until it has caught up, only segments back up what the author knows. This replica: there is no
// candidate.
ReplicaIncarnation OnePaxosReconfiguration::candidate() const {
  const int voters = state_.group.voters;
  ReplicaIncarnation best = state_.self();
  int best_rank = 0;
  for (int step = 1; step <= voters && voters > 1; ++step) {
    const EndpointId id(static_cast<std::uint16_t>((state_.now().acceptor.id.value() + step) % voters));
    const bool other = id != state_.group.self && state_.peers.name(id) != state_.now().acceptor;
    if (!other || !state_.peers.up(id)) continue;
    const int rank = 1 + (state_.peers.fit(id) ? 1 : 0) + (state_.peers.suspected(id) ? 0 : 2);
    if (rank <= best_rank) continue;
    best = state_.peers.name(id);
    best_rank = rank;
  }
  return best;
}

ReplicaSet OnePaxosReconfiguration::voters_up() const {
  ReplicaSet up;
  for (const EndpointId voter : ReplicaSet::first(state_.group.voters)) {
    if (state_.peers.up(voter)) up.insert(voter);
  }
  return up;
}

// `preferred`: the next acceptor; if it is this replica itself, any fit voter. Returns false if no change was begun.
bool OnePaxosReconfiguration::change_acceptor(EndpointId preferred, ReplicaIncarnation suspected, Effects& effects) {
  const ReplicaIncarnation next = preferred == state_.group.self ? candidate() : state_.peers.name(preferred);
  no_candidate_ = next == state_.self() && state_.group.voters > 1;
  if (no_candidate_ || state_.log.proposing() || !state_.log.votes() || !majority_up()) return false;
  suspected_ = suspected;
  state_.log.propose([this, next](Slot known, Effects& later) { return write_change(next, known, later); }, effects);
  return true;
}

// From now until the change's outcome is known, this replica sends no Accept, serves no read, and ignores promises that
// may still arrive.
ConfigEntry OnePaxosReconfiguration::write_change(ReplicaIncarnation acceptor, Slot known, Effects& effects) {
  ConfigEntry entry{ConfigEntry::Kind::kAcceptorChange, state_.self(), acceptor, {}, {}, {}};
  std::vector<Leader::Recovered> undecided;
  if (takeover_.active() && !state_.has_led()) {
    state_.learn_in_flight(effects);
    undecided = state_.recover(recovery_.found());
  } else {
    undecided = state_.recover(state_.proposals());
  }
  takeover_.cancel();
  if (INGOT_RULE("freeze")) state_.leader.freeze(effects);
  std::size_t bytes = 0;
  for (const auto& each : undecided) bytes += each.command->size() + kInFlightSlotBytes;
  entry.decided = state_.learner.decided();
  entry.base = state_.repeat_from(known, bytes);
  for (Slot slot = entry.base; slot < entry.decided; slot = slot.next()) {
    entry.in_flight.emplace_back(slot, state_.learner.command(slot));
  }
  if (!INGOT_RULE("decided-too")) {
    entry.decided = entry.base;
    entry.in_flight.clear();
  }
  for (std::size_t i = 0; i < undecided.size() && INGOT_RULE("in-flight"); ++i) {
    entry.in_flight.emplace_back(state_.learner.decided().plus(i), undecided[i].command);
  }
  return entry;
}

// ---- As a possible leader -------------------------------------------------------------------------------------------

bool OnePaxosReconfiguration::may_campaign() const {
  const bool accepts = state_.now().acceptor.id == state_.group.self && !state_.peers.dead(state_.now().acceptor);
  return state_.log.votes() && !accepts && state_.peers.caught_up(state_.group.self);
}

// How many voters campaign before this replica: not those that are stopped.
int OnePaxosReconfiguration::rank() const {
  int before = 0;
  for (std::uint16_t id = 0; id < state_.group.self.value() && id < state_.group.voters; ++id) {
    const EndpointId voter(id);
    const bool other = voter != state_.now().acceptor.id && voter != state_.now().leader.id;
    before += other && state_.peers.fit(voter) && !state_.peers.reported_stopped(voter) ? 1 : 0;
  }
  return before;
}

void OnePaxosReconfiguration::campaign(ReplicaIncarnation suspected, Effects& effects) {
  if (!may_campaign() || state_.log.proposing()) return;
  suspected_ = suspected;
  state_.log.propose(
      [this](Slot known, Effects&) {
        return ConfigEntry{ConfigEntry::Kind::kLeaderChange, state_.self(), state_.now().acceptor, known, {}, {}};
      },
      effects);
}

void OnePaxosReconfiguration::client_waits(Effects& effects) {
  if (state_.leads(state_.self()) || leader_watch_.waiting()) return;
  leader_watch_.expect();
  if (!state_.peers.dead(state_.now().leader)) ping(state_.now().leader.id, effects);
}

void OnePaxosReconfiguration::ping(EndpointId to, Effects& effects) {
  state_.mailbox.send(to, {.type = MessageType::kPing, .epoch = state_.log.epoch(),
                           .ballot = Ballot(state_.log.tip()), .slot = state_.learner.end(), .number = ++pings_},
                      effects);
}

void OnePaxosReconfiguration::on_ping(EndpointId from, const Message& question, Effects& effects) {
  state_.log.tell(from, question.ballot.value(), effects);
  state_.learner.note_known(question.slot);
  pong(from, question.number, effects);
}

void OnePaxosReconfiguration::pong(EndpointId to, std::uint64_t number, Effects& effects) {
  state_.mailbox.send(to, {.type = MessageType::kPong, .epoch = state_.log.epoch(),
                           .ballot = Ballot(state_.log.tip()), .slot = state_.learner.decided(), .number = number,
                           .verdict = state_.peers.caught_up(state_.group.self)}, effects);
}

void OnePaxosReconfiguration::note_alive(ReplicaIncarnation name) {
  if (name == state_.now().leader) {
    leader_watch_.answered();
  }
  if (name == state_.now().acceptor) {
    acceptor_watch_.answered();
    acceptor_silent_ = no_candidate_ = false;
  }
  if (name == suspected_ && !state_.log.committed()) {
    suspected_ = {};
    state_.log.give_up();
  }
}

// The sender has won a later entry of this epoch. From now on this replica sends nothing under an older ballot.
void OnePaxosReconfiguration::on_step_down(EndpointId from, const Message& question, Effects& effects) {
  if (question.target != state_.group.incarnation) return;
  if (state_.log.tip() > question.ballot.value()) {
    state_.log.tell(from, question.ballot.value(), effects);
    return;
  }
  if (INGOT_RULE("walk-steps-down")) renounced_ = std::max(renounced_, question.ballot.value());
  if (state_.log.tip() < question.ballot.value() && INGOT_RULE("walk-steps-down")) {
    takeover_.cancel();
    state_.leader.step_down(from, effects);
  }
  state_.mailbox.send(from, stepped_down(state_, question), effects);
}

// ---- Time -----------------------------------------------------------------------------------------------------------

bool OnePaxosReconfiguration::wants_tick() const {
  if (state_.log.wants_tick() || takeover_.active() || leader_watch_.waiting() || no_candidate_) return true;
  return waits_for_leader();
}

bool OnePaxosReconfiguration::waits_for_leader() const {
  return !state_.leads(state_.self()) && leader_is_gone() && state_.log.votes();
}

void OnePaxosReconfiguration::tick(Effects& effects) {
  state_.log.tick(effects);
  takeover_.tick(effects);
  if (takeover_.active()) recovery_.tick(effects);
  rank_ticks_ = leader_is_gone() ? rank_ticks_ + 1 : 0;
  tick_leader_watch(effects);
  tick_acceptor_watch(effects);
  fence_if_stuck(effects);
  check_candidates(effects);
  check_leader(effects);
}

// Asks again from time to time whether a restarted replica has caught up and can be the acceptor.
void OnePaxosReconfiguration::check_candidates(Effects& effects) {
  if (no_candidate_ && ++candidate_ticks_ % state_.group.bounds.suspect_ticks == 0) ping_voters(effects);
}

// The acceptor does not campaign. If it has missed the entry that made another replica acceptor, or the others have
// missed the one that made it acceptor, each side would wait for the other.
void OnePaxosReconfiguration::check_leader(Effects& effects) {
  const bool due = rank_ticks_ > 0 && rank_ticks_ % state_.group.bounds.suspect_ticks == 0;
  if (due && waits_for_leader() && !may_campaign()) ping_voters(effects);
}

void OnePaxosReconfiguration::ping_voters(Effects& effects) {
  for (std::uint16_t id = 0; id < state_.group.voters; ++id) {
    if (EndpointId(id) != state_.group.self && state_.peers.up(EndpointId(id))) ping(EndpointId(id), effects);
  }
}

void OnePaxosReconfiguration::tick_leader_watch(Effects& effects) {
  const ReplicaIncarnation leader = state_.now().leader;
  if (leader == state_.self() || state_.peers.dead(leader)) return leader_watch_.stop();
  switch (leader_watch_.tick(rank() * state_.group.bounds.suspect_ticks / 2)) {
    case Suspicion::Verdict::kNone:
      return;
    case Suspicion::Verdict::kAskAgain:
      return ping(leader.id, effects);
    case Suspicion::Verdict::kSuspicious:
      break;
  }
  if (!state_.peers.suspected(leader.id)) effects.suspects.push_back(leader.id);
  state_.peers.suspect(leader.id);
  if (may_campaign()) campaign(leader, effects);
  else suspect_leader(effects);
}

// For a replica that may not lead: reports the silent leader to the voters, which may lead.
void OnePaxosReconfiguration::suspect_leader(Effects& effects) {
  for (std::uint16_t id = 0; id < state_.group.voters; ++id) {
    const EndpointId voter(id);
    if (voter == state_.group.self || voter == state_.now().leader.id) continue;
    state_.mailbox.send(voter, {.type = MessageType::kSuspectLeader}, effects);
  }
}

void OnePaxosReconfiguration::tick_acceptor_watch(Effects& effects) {
  const bool waits = state_.leads(state_.self()) && !state_.log.committed() &&
                     (state_.leader.waits_for_acceptor() || takeover_.waits_for_acceptor());
  if (!waits) return acceptor_watch_.stop();
  acceptor_watch_.expect();
  const ReplicaIncarnation acceptor = state_.now().acceptor;
  switch (acceptor_watch_.tick()) {
    case Suspicion::Verdict::kNone:
      return;
    case Suspicion::Verdict::kAskAgain:
      if (acceptor.id != state_.group.self) ping(acceptor.id, effects);
      return;
    case Suspicion::Verdict::kSuspicious:
      break;
  }
  if (!state_.peers.suspected(acceptor.id)) effects.suspects.push_back(acceptor.id);
  state_.peers.suspect(acceptor.id);
  acceptor_silent_ = true;
  replace_silent_acceptor(effects);
}

// If the acceptor and the former leader that could report its entries have both been silent for long, only the death of
// one of them lets agreement go on.
void OnePaxosReconfiguration::fence_if_stuck(Effects& effects) {
  const bool stuck = takeover_.active() && acceptor_silent_ && recovery_.walking() &&
                     !state_.peers.dead(state_.now().acceptor) && !state_.peers.dead(recovery_.waits_for());
  fence_ticks_ = stuck ? fence_ticks_ + 1 : 0;
  if (!stuck || fence_ticks_ % acceptor_watch_.timeout_ticks() != 0) return;
  state_.peers.suspect(recovery_.waits_for().id);
  if (INGOT_RULE("fence")) effects.fence.push_back(state_.now().acceptor);
}

}  // namespace ingot::replication_agreement_one_paxos
