#include "replication/agreement/one_paxos/state_recovery.h"

#include <algorithm>

#include "core/rule.h"
#include "replication/stable/view.h"

namespace ingot::inline replication_agreement_one_paxos {

void OnePaxosStateRecovery::reset() {
  salvaging_ = known_ = facts_ = missing_ = false;
  at_ = 0;
  need_ = proposed_end_ = released_ = Slot(0);
  found_.clear();
  timer_.progress();
}

void OnePaxosStateRecovery::salvage(Effects& effects) {
  if (salvaging_ || known_) return;
  salvaging_ = true;
  effects.salvage_needed.push_back(state_.now().acceptor);
}

void OnePaxosStateRecovery::walk_back(Effects& effects) {
  if (at_ > 0 || known_) return;
  at_ = state_.log.tip() - 1;
  ask(effects);
}

// Walks back through the entries as far as possible without waiting for another replica.
void OnePaxosStateRecovery::ask(Effects& effects) {
  const Epoch epoch = state_.log.epoch();
  for (; at_ >= epoch.value(); --at_) {
    if (!state_.log.keeps(at_)) {
      if (INGOT_RULE("dropped-is-unknown")) return;  // only the acceptor can tell
      continue;
    }
    if (at_ + 1 < state_.log.tip() && !INGOT_RULE("walk-to-completed")) break;
    const ReplicaIncarnation name = state_.log.at(at_).leader;
    if (name == state_.self()) {
      if (state_.leader.epoch() != epoch || state_.leader.ballot() != Ballot(at_)) continue;
      found_ = state_.proposals();
      return finish(state_.epoch_entry().base, state_.leader.next_slot());
    }
    if (state_.peers.dead(name)) {
      effects.salvage_needed.push_back(name);
    } else {
      state_.mailbox.send(name.id,
                          {.type = MessageType::kStepDown, .epoch = epoch, .ballot = Ballot(state_.log.tip()),
                           .number = at_, .target = name.incarnation},
                          effects);
    }
    return;
  }
  finish(state_.epoch_entry().base, Slot(0));
}

void OnePaxosStateRecovery::finish(Slot need, Slot proposed_end) {
  known_ = true;
  at_ = 0;
  need_ = need;
  if (INGOT_RULE("knows-base")) need_ = std::max(need_, state_.epoch_entry().base);
  if (INGOT_RULE("released-is-told")) need_ = std::max(need_, released_);
  proposed_end_ = std::max({proposed_end, need_, state_.in_flight_end()});
  if (!found_.empty()) proposed_end_ = std::max(proposed_end_, found_.rbegin()->first.next());
  state_.learner.note_known(need_);
  state_.catch_up.note_trimmed(need_);
}

void OnePaxosStateRecovery::salvaged(ReplicaIncarnation name, const StableView* view, Effects& effects) {
  if (known_ || !state_.peers.dead(name)) return;
  if (view && (view->replica != name.id || view->incarnation != name.incarnation)) view = nullptr;
  if (!INGOT_RULE("segments-kept")) {
    static const StableView made_anew;
    view = &made_anew;
  }
  if (salvaging_ && name == state_.now().acceptor) read_acceptor(view, effects);
  else if (at_ > 0 && name == waits_for()) read_leader(view, effects);
}

void OnePaxosStateRecovery::read_acceptor(const StableView* view, Effects& effects) {
  missing_ = view == nullptr;
  if (!view) return walk_back(effects);
  released_ = std::max(released_, view->released_below);
  Slot need, end;
  if (view->epoch == state_.log.epoch()) {
    if (INGOT_RULE("trim-is-told")) need = view->trimmed;
    end = view->accepted_end;
    for (const auto& [slot, entry] : view->accepted) found_[slot] = entry.command;
  }
  facts_ = true;
  finish(need, end);
}

void OnePaxosStateRecovery::read_leader(const StableView* view, Effects& effects) {
  missing_ = view == nullptr;
  if (!view) return;
  released_ = std::max(released_, view->released_below);
  if (view->leader_epoch != state_.log.epoch() || view->leader_ballot != Ballot(at_)) {
    --at_;
    return ask(effects);
  }
  const auto proposed = view->proposed.find(view->leader_ballot);
  if (proposed != view->proposed.end()) found_ = proposed->second;
  finish(INGOT_RULE("walk-knows-from") ? view->leader_trimmed : Slot(0), view->proposed_end);
}

void OnePaxosStateRecovery::on_stepped_down(EndpointId from, const Message& answer, Effects& effects) {
  const bool ours = at_ > 0 && !known_ && ReplicaIncarnation{from, answer.incarnation} == waits_for() &&
                    answer.epoch == state_.log.epoch() && answer.ballot == Ballot(state_.log.tip()) &&
                    answer.number == at_;
  if (!ours) return;
  timer_.progress();
  if (!answer.verdict) {
    --at_;
    return ask(effects);
  }
  for (const Vote& vote : votes_of(answer)) found_[vote.slot] = std::make_shared<const std::string>(vote.command);
  finish(INGOT_RULE("walk-knows-from") ? answer.slot : Slot(0), Slot(0));
}

// A slot known above everything that was found, or with another command than was found, is a newer leader's proposal.
// Then the log will name that leader, and the found entries prove nothing about the slots in between.
bool OnePaxosStateRecovery::overtaken() const {
  if (state_.learner.known_end() > proposed_end_) return true;
  return std::any_of(found_.begin(), found_.end(), [this](const auto& each) {
    const OnePaxosState::Command known = state_.learner.command(each.first);
    return known && *known != *each.second;
  });
}

bool OnePaxosStateRecovery::complete(Effects& effects) {
  if (!known_ || state_.learner.decided() < need_) return false;
  if (overtaken() && INGOT_RULE("window-is-own")) return false;
  state_.learn_in_flight(effects);
  if (facts_) {
    for (const auto& [slot, command] : found_) {
      if (!state_.learner.knows(slot)) state_.learn(slot, command, effects);
    }
  }
  state_.learn_outside_window(found_, effects);
  found_.erase(found_.begin(), found_.lower_bound(state_.learner.decided()));
  return true;
}

void OnePaxosStateRecovery::tick(Effects& effects) {
  if (known_ || (!salvaging_ && at_ == 0) || !timer_.due()) return;
  if (salvaging_) effects.salvage_needed.push_back(state_.now().acceptor);
  if (at_ > 0) ask(effects);
}

Message stepped_down(const OnePaxosState& state, const Message& question) {
  const Leader& leader = state.leader;
  const bool complete = leader.epoch() == question.epoch && leader.ballot() == Ballot(question.number) &&
                        state.log.epoch() <= question.epoch && leader.has_led();
  Message answer{.type = MessageType::kSteppedDown, .epoch = question.epoch, .ballot = question.ballot,
                 .slot = state.learner.decided(), .number = question.number, .verdict = complete};
  WireWriter votes;
  // A command known above the last own proposal is a newer leader's.
  for (Slot slot = state.learner.decided(); complete && slot < leader.next_slot(); slot = slot.next()) {
    auto command = state.learner.command(slot);
    const Proposal* proposal = leader.proposal(slot);
    if (!command && proposal) command = proposal->command;
    if (command) append_vote({slot, leader.ballot(), *command}, votes);
  }
  answer.command = std::make_shared<const std::string>(votes.take());
  answer.payload = *answer.command;
  return answer;
}

}  // namespace ingot::replication_agreement_one_paxos
