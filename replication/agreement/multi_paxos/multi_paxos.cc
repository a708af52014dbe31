#include "replication/agreement/multi_paxos/multi_paxos.h"

#include <algorithm>
#include <utility>

#include "core/rule.h"
#include "replication/agreement/multi_paxos/ballot.h"
#include "replication/agreement/stored.h"

namespace ingot::inline replication_agreement_multi_paxos {

MultiPaxos::MultiPaxos(const GroupConfig& group)
    : group_(group),
      mailbox_(group),
      peers_(group),
      learner_(group.bounds),
      catch_up_(group, learner_, mailbox_),
      leader_(group, mailbox_),
      voter_(group, mailbox_),
      prepare_(group, learner_, mailbox_),
      campaign_(group.self),
      suspicion_(group.bounds.suspect_ticks),
      leader_name_{EndpointId(0), Incarnation(1)},
      has_led_(leader_.leading()) {
  group_.predecessor = nullptr;  // the voter has inherited what it needs
  if (group.incarnation == Incarnation(1)) return;
  following_ = std::max(following_, voter_.promised());
  leader_name_ = {ballot_owner(following_, group.voters), Incarnation(0)};
  leader_.set_leader_hint(leader_name_.id);
  // Slots that the predecessor trimmed are decided. They may be unknown here, and perhaps no living peer can report
  // them.
  learner_.note_known(voter_.trimmed());
  catch_up_.note_trimmed(voter_.trimmed());
}

void MultiPaxos::start(Effects& effects) {
  if (group_.incarnation == Incarnation(1)) return;
  voter_.start(effects);
  mailbox_.broadcast({.type = MessageType::kHello, .slot = learner_.decided()}, effects);
  settle(effects);
}

void MultiPaxos::reject_busy(Rejection::Kind kind, std::uint64_t id, Effects& effects) {
  effects.rejected.push_back({kind, Rejection::Why::kBusy, id, group_.self});
}

void MultiPaxos::propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) {
  if (leader_.recovering()) return reject_busy(Rejection::Kind::kCommand, proposal_id, effects);
  leader_.propose(proposal_id, std::move(command), effects);
  settle(effects);
}

// The read index is the next slot, which is too low while recovered slots wait to be proposed again.
void MultiPaxos::read(std::uint64_t read_id, Effects& effects) {
  const bool too_low = leader_.recovering() && INGOT_RULE("reads-after-recovery");
  if (too_low) return reject_busy(Rejection::Kind::kRead, read_id, effects);
  leader_.read(read_id, effects);
  settle(effects);
}

void MultiPaxos::receive(EndpointId from, std::string_view bytes, Effects& effects) {
  const auto message = mailbox_.open(from, bytes);
  if (!message) return;
  if (peers_.note_alive({from, message->incarnation})) leader_.restarted(from);
  handle(from, *message, effects);
  settle(effects);
  catch_up_.step(from, effects);
}

void MultiPaxos::handle_own(Effects& effects) {
  while (const auto message = mailbox_.take_own()) handle(group_.self, *message, effects);
}

void MultiPaxos::handle(EndpointId from, const Message& message, Effects& effects) {
  switch (message.type) {
    case MessageType::kAccept:
      on_leader_message(from, message);
      return voter_.on_accept(from, message, learner_.decided(), effects);
    case MessageType::kAccepted:
      // A dead incarnation's vote may still arrive.
      if (!peers_.dead({from, message.incarnation})) leader_.votes(from);
      return leader_.on_accepted(from, message, effects);
    case MessageType::kLearn:
      on_leader_message(from, message);
      if (!learner_.knows(message.slot)) learn(message.slot, voter_.shared_command(message), effects);
      return;
    case MessageType::kChosen:
      on_leader_message(from, message);
      return on_chosen(message, effects);
    case MessageType::kAbandon:
      return on_abandon(from, message, effects);
    case MessageType::kPrepare:
      return voter_.on_prepare(from, message, effects);
    case MessageType::kPromise:
      prepare_.on_promise(from, message, effects);
      catch_up_.note_trimmed(prepare_.trimmed());
      if (group_.replicas > 1) return learner_.note_known(prepare_.trimmed());
      effects.snapshot_needed |= learner_.decided() < prepare_.trimmed();  // no peer could supply the missing slots
      return;
    case MessageType::kReadProbe:
      on_leader_message(from, message);
      return voter_.on_read_probe(from, message, effects);
    case MessageType::kReadConfirm:
      return leader_.on_read_confirm(from, message, effects);
    case MessageType::kFetch:
      return catch_up_.answer_fetch(from, message, effects);
    case MessageType::kFetched:
      learner_.note_known(Slot(message.number));
      return catch_up_.receive_fetched(
          from, message, [&](Slot slot, const Learner::Command& command) { learn(slot, command, effects); }, effects);
    case MessageType::kCommitHint:
      on_leader_message(from, message);
      return learner_.note_known(message.slot);
    case MessageType::kPing:
      return mailbox_.send(from,
                           {.type = MessageType::kPong,
                            .epoch = Epoch(1),
                            .ballot = following_,
                            .number = message.number,
                            .verdict = leader_.leading() || prepare_.under_way()},
                           effects);
    case MessageType::kPong:
      return on_pong(from, message, effects);
    case MessageType::kSuspectLeader:
      return client_waits(effects);
    case MessageType::kHello:
      return on_hello(from, effects);
    default:
      mailbox_.refuse();
  }
}

// What was voted for under another ballot may be another command. Without a vote under this ballot the slot is only
// known to be decided, and its command is fetched (CatchUp::step).
void MultiPaxos::on_chosen(const Message& chosen, Effects& effects) {
  learner_.note_known(chosen.slot.next());
  if (learner_.knows(chosen.slot)) return;
  if (const Learner::Command command = voter_.chosen_command(chosen)) learn(chosen.slot, command, effects);
}

void MultiPaxos::learn(Slot slot, const Learner::Command& command, Effects& effects) {
  learner_.learn(slot, command, effects);
  leader_.learned(slot, *command);
  leader_.settle_orphans(slot, *command, leader_name_.id, effects);
  leader_.advance(learner_.decided(), effects);
}

bool MultiPaxos::wants_tick() const {
  return leader_.wants_tick() || leader_.recovering() || catch_up_.wants_tick() || prepare_.under_way() ||
         campaign_.wants_tick() || suspicion_.waiting();
}

void MultiPaxos::tick(Effects& effects) {
  leader_.tick(effects);
  catch_up_.tick(effects);
  prepare_.tick(effects);
  campaign_.tick();
  ask_leader(effects);
  settle(effects);
}

void MultiPaxos::peer_drained(EndpointId peer, Effects& effects) {
  if (peer.value() < group_.voters) leader_.resend_to(peer, effects);
  prepare_.ask(peer, effects);
  catch_up_.send_commit_hint(peer, effects);
  settle(effects);
}

void MultiPaxos::compact(Slot keep_from, Effects& effects) {
  voter_.trim(std::min(keep_from, learner_.decided()), effects);
}

void MultiPaxos::installed(Slot first_undecided, Effects& effects) {
  learner_.installed(first_undecided, effects);
  catch_up_.installed();
  leader_.advance(learner_.decided(), effects);
  settle(effects);
}

Role MultiPaxos::role() const { return leader_.leading() ? Role::kLeader : Role::kReplica; }
EndpointId MultiPaxos::leader() const { return leader_name_.id; }
EndpointId MultiPaxos::acceptor() const { return leader_name_.id; }
Ballot MultiPaxos::ballot() const { return following_; }

Slot MultiPaxos::next_slot() const {
  return leader_.leading() ? leader_.next_slot() : std::max(learner_.end(), voter_.end());
}

std::size_t MultiPaxos::stored_bytes_max(std::string_view message) const {
  return ingot::stored_bytes_max(message, MessageType::kAccept, group_.bounds);
}

AgreementStatus MultiPaxos::status() const {
  AgreementStatus status;
  status.role = role();
  status.leader = status.acceptor = leader_name_.id;
  status.leader_incarnation = status.acceptor_incarnation =
      leader_name_.incarnation > Incarnation(0) ? leader_name_.incarnation : peers_.name(leader_name_.id).incarnation;
  status.epoch = Epoch(1);
  status.ballot = ballot();
  status.proposed = next_slot();
  status.decided = learner_.decided();
  status.taking_over = prepare_.under_way() || leader_.recovering();
  status.deposed = has_led_ && !leader_.leading() && leader_name_.id != group_.self;
  status.deposed_by = leader_name_.id;
  add_blocked(status);
  return status;
}

void MultiPaxos::add_blocked(AgreementStatus& status) const {
  const auto wait_for = [&](Blocked why, ReplicaSet by) {
    status.why = why;
    status.blocked_by = by;
  };
  const ReplicaSet leader = ReplicaSet::of(leader_name_.id) - ReplicaSet::of(group_.self);
  if (prepare_.under_way()) {
    const bool majority = prepare_.has_majority();
    wait_for(majority ? Blocked::kCatchingUp : Blocked::kNoMajority, majority ? ReplicaSet() : prepare_.awaited());
  } else if (leader_.waits_for_voters()) {
    wait_for(Blocked::kVoters, leader_.awaited());
  } else if (leader_.recovering() && room_.lacking()) {
    wait_for(Blocked::kNoRoom, {});
  } else if (leader_.leading()) {
    if (leader_.recovering() || learner_.has_gap()) wait_for(Blocked::kCatchingUp, {});
  } else if (leader_is_dead()) {
    wait_for(Blocked::kLeaderDead, leader);
  } else if (suspicion_.waiting() || campaign_.wants_tick()) {
    wait_for(Blocked::kLeaderSilent, leader);
  }
}

}  // namespace ingot::replication_agreement_multi_paxos
