#include "replication/agreement/two_phase_commit/two_phase_commit.h"

#include <algorithm>
#include <utility>

#include "core/rule.h"
#include "replication/agreement/stored.h"

namespace ingot::inline replication_agreement_two_phase_commit {

namespace {
constexpr EndpointId kCoordinator{0};
}

TwoPhaseCommit::TwoPhaseCommit(const GroupConfig& group)
    : group_(group),
      mailbox_(group),
      learner_(group.bounds),
      coordinator_(group, mailbox_),
      participant_(group, learner_, mailbox_),
      coordinator_watch_(group.bounds.suspect_ticks) {}

void TwoPhaseCommit::propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) {
  coordinator_.propose(proposal_id, std::move(command), effects);
  handle_own(effects);
}

// Any value that a client was told or has read elsewhere was committed, hence prepared here or settled by this
// coordinator. A slot that is prepared and undecided here may already be applied elsewhere. Without waiting for it, a
// client that reads on two replicas could see time go backwards.
void TwoPhaseCommit::read(std::uint64_t read_id, Effects& effects) {
  if (!coordinator_.active() && !participant_.active()) {
    effects.rejected.push_back({Rejection::Kind::kRead, Rejection::Why::kNotLeader, read_id, EndpointId(0)});
    return;
  }
  Slot seen = coordinator_.active() ? coordinator_.settled_end() : participant_.prepared_end();
  if (!INGOT_RULE("reads-wait-for-prepared")) seen = Slot(0);
  effects.reads_ready.push_back({read_id, std::max(seen, learner_.decided())});
}

void TwoPhaseCommit::receive(EndpointId from, std::string_view bytes, Effects& effects) {
  const auto message = mailbox_.open(from, bytes);
  if (!message) return;
  if (message->type == MessageType::kLearn) return mailbox_.refuse();  // sent to oneself only
  if (from == kCoordinator) {
    coordinator_watch_.answered();
    suspected_ = false;
  }
  handle(from, *message, effects);
  handle_own(effects);
}

void TwoPhaseCommit::handle_own(Effects& effects) {
  while (const auto message = mailbox_.take_own()) handle(group_.self, *message, effects);
}

void TwoPhaseCommit::handle(EndpointId from, const Message& message, Effects& effects) {
  switch (message.type) {
    case MessageType::kTwoPhasePrepare:
      return participant_.on_prepare(from, message, effects);
    case MessageType::kTwoPhaseVote:
      return coordinator_.on_vote(from, message, effects);
    case MessageType::kTwoPhaseOutcome:
      return participant_.on_outcome(from, message, effects);
    case MessageType::kTwoPhaseAcknowledge:
      return coordinator_.on_acknowledge(from, message, effects);
    case MessageType::kLearn:
      learner_.learn(message.slot, command_of(message), effects);
      return coordinator_.advance(learner_.decided());
    case MessageType::kPing:
      return mailbox_.send(
          from, {.type = MessageType::kPong, .epoch = Epoch(1), .ballot = Ballot(1), .number = message.number},
          effects);
    case MessageType::kPong:
      return;  // that it came is all it says
    default:
      mailbox_.refuse();
  }
}

void TwoPhaseCommit::tick(Effects& effects) {
  coordinator_.tick(effects);
  watch_coordinator(effects);
}

// A participant may hold nothing in doubt while its clients wait for a coordinator that is stopped.
void TwoPhaseCommit::client_waits(Effects& effects) {
  const bool watches = participant_.active() && !dead_.contains(kCoordinator);
  if (!watches || coordinator_watch_.waiting()) return;
  coordinator_watch_.expect();
  ask_coordinator(effects);
}

void TwoPhaseCommit::ask_coordinator(Effects& effects) {
  mailbox_.send(kCoordinator, {.type = MessageType::kPing, .epoch = Epoch(1), .ballot = Ballot(1)}, effects);
}

void TwoPhaseCommit::watch_coordinator(Effects& effects) {
  if (dead_.contains(kCoordinator)) return coordinator_watch_.stop();
  switch (coordinator_watch_.tick()) {
    case Suspicion::Verdict::kNone:
      return;
    case Suspicion::Verdict::kAskAgain:
      return ask_coordinator(effects);
    case Suspicion::Verdict::kSuspicious:
      if (!std::exchange(suspected_, true)) effects.suspects.push_back(kCoordinator);
  }
}

void TwoPhaseCommit::peer_drained(EndpointId peer, Effects& effects) {
  if (coordinator_.active()) coordinator_.resend(peer, effects);
  if (peer == EndpointId(0)) participant_.resend(effects);
}

void TwoPhaseCommit::applied(Slot applied, Effects& effects) { participant_.applied(applied, effects); }

void TwoPhaseCommit::compact(Slot keep_from, Effects& effects) {
  keep_from = std::min(keep_from, learner_.decided());
  if (keep_from <= trimmed_) return;
  trimmed_ = keep_from;
  effects.stable.push_back({StableWrite::Kind::kTrimmed, Epoch(1), Ballot(1), keep_from, nullptr});
}

void TwoPhaseCommit::installed(Slot first_undecided, Effects& effects) {
  participant_.installed(first_undecided);
  learner_.installed(first_undecided, effects);
  coordinator_.advance(learner_.decided());
}

Role TwoPhaseCommit::role() const { return coordinator_.active() ? Role::kLeader : Role::kReplica; }
EndpointId TwoPhaseCommit::leader() const { return EndpointId(0); }
EndpointId TwoPhaseCommit::acceptor() const { return EndpointId(0); }
Ballot TwoPhaseCommit::ballot() const { return Ballot(1); }

Slot TwoPhaseCommit::next_slot() const {
  return coordinator_.active() ? coordinator_.next_slot() : std::max(participant_.prepared_end(), learner_.end());
}

std::size_t TwoPhaseCommit::stored_bytes_max(std::string_view message) const {
  return ingot::stored_bytes_max(message, MessageType::kTwoPhasePrepare, group_.bounds);
}

AgreementStatus TwoPhaseCommit::status() const {
  AgreementStatus status;
  status.role = role();
  status.leader = leader();
  status.acceptor = acceptor();
  status.epoch = Epoch(1);
  status.ballot = ballot();
  status.proposed = next_slot();
  status.decided = learner_.decided();
  add_blocked(status);
  return status;
}

// A death is reported at once. Only first incarnations take part: a later one means that the first is dead.
void TwoPhaseCommit::add_blocked(AgreementStatus& status) const {
  const auto dead = [&](EndpointId first_dead, ReplicaSet by) {
    status.blocked = true;
    status.why = first_dead == kCoordinator ? Blocked::kCoordinatorDead : Blocked::kParticipantDead;
    status.blocked_by = by;
  };
  if (group_.incarnation > Incarnation(1)) return dead(group_.self, ReplicaSet::of(group_.self));
  if (dead_.contains(kCoordinator)) dead(kCoordinator, ReplicaSet::of(kCoordinator));
  else if (!dead_.empty()) dead(*dead_.begin(), dead_);
  else add_waiting(status);
  if (coordinator_.active()) {
    status.blocked_from = coordinator_.oldest();
    status.blocked_to = coordinator_.next_slot();
  } else {
    status.blocked_from = participant_.in_doubt_begin();
    status.blocked_to = participant_.prepared_end();
  }
}

void TwoPhaseCommit::add_waiting(AgreementStatus& status) const {
  const auto wait_for = [&](Blocked why, ReplicaSet by) {
    status.why = why;
    status.blocked_by = by;
  };
  const bool on_coordinator = participant_.in_doubt() || coordinator_watch_.waiting();
  if (coordinator_.wants_tick()) wait_for(Blocked::kParticipant, coordinator_.awaited());
  else if (on_coordinator) wait_for(Blocked::kCoordinator, ReplicaSet::of(kCoordinator));
}

void TwoPhaseCommit::peer_died(ReplicaIncarnation name, Effects&) {
  if (name.id.value() < group_.replicas && name.id != group_.self) dead_.insert(name.id);
}

// A later incarnation takes no part; its first one is dead.
void TwoPhaseCommit::peer_started(ReplicaIncarnation name, Effects& effects) {
  if (name.incarnation > Incarnation(1)) peer_died(name, effects);
}

}  // namespace ingot::replication_agreement_two_phase_commit
