// How a replica's core executes agreement's effects: one action at a time, in the order that
// replication/agreement/agreement.h demands.
#include <algorithm>
#include <utility>

#include "replication/replica/core.h"
#include "replication/requests/snapshot_wish.h"
#include "replication/stable/layout.h"

namespace ingot::inline replication_replica {

void ReplicaCore::begin_effects() {
  std::swap(executing_, effects_);
  progress_ = {.under_way = true};
  for (const EndpointId suspect : executing_.suspects) peers_.suspect(suspect);
  for (Decision& decision : executing_.decided) {
    unapplied_bytes_ += decision.command->size();
    unapplied_.push_back(std::move(decision));
  }
}

// Offers an action, or queues messages, which come first. False: the effects are executed, but for the decisions.
bool ReplicaCore::next_effect() {
  if (progress_.stable < executing_.stable.size()) {
    offer({.kind = Action::Kind::kStore, .write = &executing_.stable[progress_.stable]});
    return true;
  }
  if (progress_.message < executing_.messages.size()) {
    next_message(executing_.messages[progress_.message]);
    return true;
  }
  return false;
}

// Offers the next decision. False: none waits, or this round has applied its share. More than unapplied_bytes do not
// wait: then rounds are as long as they must be.
bool ReplicaCore::next_apply() {
  while (!unapplied_.empty() && unapplied_.front().slot < applier_.applied()) {
    forget_first_decision();  // a snapshot that was installed meanwhile has it
  }
  if (unapplied_.empty()) return false;
  if (apply_steps_.spent()) {
    if (unapplied_bytes_ <= bounds_.unapplied_bytes) return false;
    apply_steps_ = StepBudget(bounds_.apply_steps);
  }
  const Decision& decision = unapplied_.front();
  const auto kind = applier_.under_way() ? Action::Kind::kApplyOn : Action::Kind::kApply;
  offer({.kind = kind, .slot = decision.slot, .decision = &decision});
  return true;
}

void ReplicaCore::forget_first_decision() {
  unapplied_bytes_ -= unapplied_.front().command->size();
  unapplied_.pop_front();
}

void ReplicaCore::offer(const Action& action) {
  action_ = action;
  current_ = Current::kEffect;
}

void ReplicaCore::offer_send(EndpointId to, const SharedMessage& message) {
  offer({.kind = Action::Kind::kSend, .to = to, .message = message.view(), .shared = &message});
}

void ReplicaCore::next_message(const Outgoing& outgoing) {
  if (outgoing.broadcast && progress_.peer < 0 && broadcaster_.broadcasts_by_tree()) {
    broadcaster_.broadcast(outgoing.message.view());
    ++progress_.message;
  } else if (outgoing.broadcast) {
    next_peer(outgoing);
  } else if (outgoing.combine && broadcaster_.answers_by_tree(outgoing.to)) {
    broadcaster_.answer(outgoing.to, outgoing.message.joined());
    ++progress_.message;
  } else {
    offer_send(outgoing.to, outgoing.message);
  }
}

// Offers the next message of a broadcast that goes to each replica directly.
void ReplicaCore::next_peer(const Outgoing& broadcast) {
  progress_.peer = std::max(progress_.peer, 0);
  if (progress_.peer == group_.self.value()) ++progress_.peer;
  if (progress_.peer < group_.replicas) {
    const EndpointId peer(static_cast<std::uint16_t>(progress_.peer));
    offer_send(peer, broadcast.message_to(peer));
  } else {
    progress_.peer = -1;
    ++progress_.message;
  }
}

void ReplicaCore::effect_done() {
  switch (action_.kind) {
    case Action::Kind::kStore:
      ++progress_.stable;
      return;
    case Action::Kind::kSend:
      if (progress_.peer >= 0) ++progress_.peer;
      else ++progress_.message;
      return;
    default:
      apply(*action_.decision);
  }
}

// A slot that took several rounds ends the last one's applying, though steps are left: between it and the next long one
// a snapshot may be due.
void ReplicaCore::apply(const Decision& decision) {
  const bool goes_on = applier_.under_way();
  const auto each = [&](const Applier::Applied& applied) {
    ++slot_commands_;
    if (is_snapshot_wish(applied.request.payload)) snapshots_.wish(decision.slot.next());
    requests_.applied(decision.slot, applied);
  };
  if (!applier_.apply_some(decision.slot, *decision.command, apply_steps_, each)) {
    apply_steps_.take_all();
    ++part_applies_;
    return;
  }
  if (goes_on) apply_steps_.take_all();
  slots_applied_ = true;
  proposals_.applied(applier_.applied());
  snapshots_.applied(decision.slot, stable_record_bytes(decision.command->size()));
  const int commands = std::exchange(slot_commands_, 0);
  const auto bucket = std::lower_bound(kBatchBuckets.begin(), kBatchBuckets.end(), commands) - kBatchBuckets.begin();
  page_.batch_commands[static_cast<std::size_t>(bucket)].add(1);
  page_.batch_commands_sum.add(static_cast<std::uint64_t>(commands));
  forget_first_decision();
}

void ReplicaCore::after_slots() {
  after_apply();
  answering_ = true;
  note_room();
  propose();
}

void ReplicaCore::after_apply() {
  slots_applied_ = false;
  agreement_->applied(applier_.applied(), effects_);
  broadcaster_.after_apply([this](EndpointId peer) { agreement_->peer_drained(peer, effects_); });
}

// Executed effects may lead to new ones: for example, an applied slot lets 2PC acknowledge.
void ReplicaCore::finish_effects() {
  if (slots_applied_) after_apply();
  for (const ReadReady& read : executing_.reads_ready) requests_.ready(read);
  confirmed_reads_ += executing_.reads_ready.size();
  for (const Rejection& rejection : executing_.rejected) {
    if (rejection.kind == Rejection::Kind::kRead) requests_.reject(rejection);
    else proposals_.forget();  // the clients try again after their time-outs
  }
  wanted_segments_.insert(wanted_segments_.end(), executing_.salvage_needed.begin(), executing_.salvage_needed.end());
  // Not while a snapshot is being loaded: it may bring all that is missing.
  wants_history_ = wants_history_ || (executing_.history_needed && !loading_);
  tell_operator();
  // Not while a snapshot is being loaded: if it is not enough, agreement asks again.
  if (executing_.snapshot_needed && !loading_) snapshots_.needed(agreement_->status());
  executing_.clear();
  note_room();
  progress_.under_way = false;
  answering_ = true;
  propose();
}

// What the store has free, without what the effects that wait to be executed will store.
void ReplicaCore::note_room() {
  std::size_t free = compaction_.free_bytes();
  for (const StableWrite& write : effects_.stable) free -= std::min(free, stable_record_bytes(write));
  agreement_->room(free);
}

void ReplicaCore::tell_operator() {
  page_[ReplicaCounter::kSuspicions].add(executing_.suspects.size());
  for (const EndpointId suspect : executing_.suspects) log_.suspected(suspect);
  if (!fences_) return;
  for (const ReplicaIncarnation& name : executing_.fence) {
    queue_.order({.kind = Action::Kind::kFence, .incarnation = name});
  }
}

}  // namespace ingot::replication_replica
