#include "replication/agreement/two_phase_commit/participant.h"

#include <algorithm>
#include <bit>
#include <utility>


namespace ingot::inline replication_agreement_two_phase_commit {

TwoPhaseParticipant::TwoPhaseParticipant(const GroupConfig& group, const Learner& learner, Mailbox& mailbox)
    : group_(group),
      learner_(learner),
      mailbox_(mailbox),
      active_(group.self != EndpointId(0) && group.incarnation == Incarnation(1)),
      ring_(std::bit_ceil(static_cast<std::size_t>(group.bounds.window_slots))) {}

// The coordinator's window never reaches above this one: it decides a slot after all participants have.
bool TwoPhaseParticipant::in_window(Slot slot) const {
  return slot.value() - learner_.decided().value() < static_cast<std::uint64_t>(group_.bounds.window_slots);
}

void TwoPhaseParticipant::on_prepare(EndpointId from, const Message& prepare, Effects& effects) {
  if (!active_ || from != coordinator_ || prepare.epoch != epoch_ || prepare.ballot != ballot_) {
    return mailbox_.refuse();
  }
  if (learner_.knows(prepare.slot)) return acknowledge(effects);
  vote(prepare.slot, store(prepare, effects), effects);
}

bool TwoPhaseParticipant::store(const Message& prepare, Effects& effects) {
  if (!in_window(prepare.slot)) return false;
  if (prepared(prepare.slot)) return true;
  const std::size_t bytes = prepare.payload.size();
  if (in_doubt_bytes_ + bytes > group_.bounds.prepared_bytes) return false;
  auto command = command_of(prepare);
  effects.stable.push_back({StableWrite::Kind::kAccepted, epoch_, ballot_, prepare.slot, command});
  prepared(prepare.slot) = std::move(command);
  ++in_doubt_;
  in_doubt_bytes_ += bytes;
  prepared_end_ = std::max(prepared_end_, prepare.slot.next());
  return true;
}

void TwoPhaseParticipant::on_outcome(EndpointId from, const Message& outcome, Effects& effects) {
  if (!active_ || from != coordinator_ || outcome.epoch != epoch_ || outcome.ballot != ballot_) {
    return mailbox_.refuse();
  }
  if (learner_.knows(outcome.slot)) return acknowledge(effects);
  Command command = in_window(outcome.slot) ? std::exchange(prepared(outcome.slot), nullptr) : nullptr;
  if (outcome.verdict && !command) return mailbox_.refuse();  // no slot commits without this participant's vote
  if (command) {
    --in_doubt_;
    in_doubt_bytes_ -= command->size();
  }
  if (!outcome.verdict) command = std::make_shared<const std::string>();
  effects.stable.push_back(
      {StableWrite::Kind::kOutcome, epoch_, Ballot(outcome.verdict ? 1 : 0), outcome.slot, nullptr});
  mailbox_.send(
      group_.self,
      {.type = MessageType::kLearn, .epoch = epoch_, .ballot = ballot_, .slot = outcome.slot, .command = command},
      effects);
}

void TwoPhaseParticipant::vote(Slot slot, bool yes, Effects& effects) {
  mailbox_.send(
      coordinator_,
      {.type = MessageType::kTwoPhaseVote, .epoch = epoch_, .ballot = ballot_, .slot = slot, .verdict = yes},
      effects);
  effects.messages.back().combine = true;
}

void TwoPhaseParticipant::applied(Slot applied, Effects& effects) {
  if (!active_ || applied <= applied_) return;
  applied_ = applied;
  acknowledge(effects);
}

void TwoPhaseParticipant::acknowledge(Effects& effects) {
  mailbox_.send(coordinator_,
                {.type = MessageType::kTwoPhaseAcknowledge, .epoch = epoch_, .ballot = ballot_, .slot = applied_},
                effects);
  effects.messages.back().combine = true;
}

void TwoPhaseParticipant::resend(Effects& effects) {
  if (!active_) return;
  for (Slot slot = learner_.decided(); slot < prepared_end_ && in_window(slot); slot = slot.next()) {
    if (prepared(slot)) vote(slot, true, effects);
  }
  acknowledge(effects);
}

Slot TwoPhaseParticipant::in_doubt_begin() const {
  if (in_doubt_ == 0) return prepared_end_;
  Slot slot = learner_.decided();
  while (!prepared(slot)) slot = slot.next();
  return slot;
}

void TwoPhaseParticipant::installed(Slot first_undecided) {
  const std::uint64_t reach = ring_.size();
  const Slot first(first_undecided.value() > reach ? first_undecided.value() - reach : 0);
  for (Slot slot = std::max(first, learner_.decided()); in_doubt_ > 0 && slot < first_undecided; slot = slot.next()) {
    if (prepared(slot)) forget(slot);
  }
  prepared_end_ = std::max(prepared_end_, first_undecided);
}

void TwoPhaseParticipant::forget(Slot slot) {
  in_doubt_bytes_ -= prepared(slot)->size();
  prepared(slot) = nullptr;
  --in_doubt_;
}

}  // namespace ingot::replication_agreement_two_phase_commit
