#include "replication/agreement/two_phase_commit/coordinator.h"

#include <algorithm>
#include <utility>

#include "core/rule.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement_two_phase_commit {

TwoPhaseCoordinator::TwoPhaseCoordinator(const GroupConfig& group, Mailbox& mailbox)
    : group_(group),
      mailbox_(mailbox),
      active_(group.self == EndpointId(0) && group.incarnation == Incarnation(1)),
      window_(group.bounds.window_slots),
      applied_by_(static_cast<std::size_t>(group.replicas)) {
  applied_by_[group.self.value()] = Slot(kSlotsMax);
}

void TwoPhaseCoordinator::propose(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects) {
  if (!can_propose()) {
    const auto why = active_ ? Rejection::Why::kBusy : Rejection::Why::kNotLeader;
    effects.rejected.push_back({Rejection::Kind::kCommand, why, id, EndpointId(0)});
    return;
  }
  if (window_.open() == 0) timer_.progress();
  const Slot slot = window_.add(id, std::move(command));
  Proposal& proposal = *window_.find(slot);
  proposal.votes = ReplicaSet::of(group_.self);
  effects.stable.push_back({StableWrite::Kind::kAccepted, epoch_, ballot_, slot, proposal.command});
  mailbox_.broadcast(prepare(slot, proposal), effects);
  if (group_.replicas > 1) return;
  settle(slot, proposal, kCommitted, effects);
  decide_acknowledged(effects);
}

Message TwoPhaseCoordinator::prepare(Slot slot, const Proposal& proposal) const {
  return {.type = MessageType::kTwoPhasePrepare,
          .epoch = epoch_,
          .ballot = ballot_,
          .slot = slot,
          .command = proposal.command};
}

Message TwoPhaseCoordinator::outcome(Slot slot, const Proposal& proposal) const {
  return {.type = MessageType::kTwoPhaseOutcome,
          .epoch = epoch_,
          .ballot = ballot_,
          .slot = slot,
          .verdict = proposal.phase == kCommitted};
}

void TwoPhaseCoordinator::on_vote(EndpointId from, const Message& vote, Effects& effects) {
  if (!active_ || vote.epoch != epoch_ || vote.ballot != ballot_) return mailbox_.refuse();
  Proposal* proposal = window_.find(vote.slot);
  if (!proposal || proposal->phase != kPreparing) return;
  if (!vote.verdict && INGOT_RULE("no-is-no")) return settle(vote.slot, *proposal, kAborted, effects);
  proposal->votes.insert(from);
  if (vote.slot == window_.base()) timer_.progress();
  const bool all = proposal->votes == ReplicaSet::first(group_.replicas);
  const bool enough = INGOT_RULE("all-vote") ? all : 2 * proposal->votes.size() > group_.replicas;
  if (enough) settle(vote.slot, *proposal, kCommitted, effects);
}

// The outcome is in the segment before it is sent: it cannot be revoked.
void TwoPhaseCoordinator::settle(Slot slot, Proposal& proposal, Phase phase, Effects& effects) {
  proposal.phase = phase;
  settled_end_ = std::max(settled_end_, slot.next());
  const Ballot verdict(phase == kCommitted ? 1 : 0);
  effects.stable.push_back({StableWrite::Kind::kOutcome, epoch_, verdict, slot, nullptr});
  mailbox_.broadcast(outcome(slot, proposal), effects);
  if (phase == kAborted) {
    effects.rejected.push_back({Rejection::Kind::kCommand, Rejection::Why::kBusy, proposal.id, group_.self});
  }
  if (slot == window_.base()) timer_.progress();
  if (!INGOT_RULE("all-applied")) decide_acknowledged(effects);
}

void TwoPhaseCoordinator::on_acknowledge(EndpointId from, const Message& acknowledge, Effects& effects) {
  if (!active_ || acknowledge.slot > settled_end_) return mailbox_.refuse();
  Slot& applied = applied_by_[from.value()];
  if (acknowledge.slot <= applied) return;
  const bool was_last = applied == learned_;  // the others have applied as much or more
  applied = acknowledge.slot;
  if (was_last) decide_acknowledged(effects);
}

void TwoPhaseCoordinator::decide_acknowledged(Effects& effects) {
  const Slot lowest = *std::min_element(applied_by_.begin(), applied_by_.end());
  const Slot applied_by_all = INGOT_RULE("all-applied") ? lowest : settled_end_;
  while (learned_ < std::min(applied_by_all, window_.next())) {
    const Proposal* proposal = window_.find(learned_);
    if (!proposal || proposal->phase == kPreparing) return;
    auto command = proposal->phase == kCommitted ? proposal->command : std::make_shared<const std::string>();
    mailbox_.send(
        group_.self,
        {.type = MessageType::kLearn, .epoch = epoch_, .ballot = ballot_, .slot = learned_, .command = command},
        effects);
    learned_ = learned_.next();
    timer_.progress();
  }
}

void TwoPhaseCoordinator::advance(Slot decided) {
  window_.advance(decided);
  learned_ = std::max(learned_, decided);
  settled_end_ = std::max(settled_end_, decided);
}

void TwoPhaseCoordinator::tick(Effects& effects) {
  if (!wants_tick() || !timer_.due()) return;
  for (std::uint16_t peer = 0; peer < group_.replicas; ++peer) resend(EndpointId(peer), effects);
}

bool TwoPhaseCoordinator::awaits(EndpointId peer, Slot slot, const Proposal& proposal) const {
  if (proposal.phase == kPreparing) return !proposal.votes.contains(peer);
  return applied_by_[peer.value()] <= slot;
}

void TwoPhaseCoordinator::resend(EndpointId peer, Effects& effects) {
  RetransmitBudget budget;
  window_.for_each_open([&](Slot slot, const Proposal& proposal) {
    if (!awaits(peer, slot, proposal) || !budget.grant(proposal.command->size())) return;
    mailbox_.send(peer, proposal.phase == kPreparing ? prepare(slot, proposal) : outcome(slot, proposal), effects);
  });
}

ReplicaSet TwoPhaseCoordinator::awaited() const {
  const Proposal* oldest = window_.find(window_.base());
  ReplicaSet awaited;
  for (const EndpointId peer : ReplicaSet::first(group_.replicas)) {
    if (oldest && awaits(peer, window_.base(), *oldest)) awaited.insert(peer);
  }
  return awaited;
}

}  // namespace ingot::replication_agreement_two_phase_commit
