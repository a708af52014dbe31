#include "replication/agreement/leader.h"

#include <utility>

#include "core/rule.h"

namespace ingot::inline replication_agreement {

// A later incarnation of the first leader does not lead: it does not know what its predecessor proposed.
Leader::Leader(const GroupConfig& group, EndpointId first_leader, Epoch epoch, Ballot ballot, Mailbox& mailbox)
    : mailbox_(mailbox),
      epoch_(epoch),
      ballot_(ballot),
      window_(group.bounds.window_slots, group.bounds.window_bytes),
      leader_hint_(first_leader),
      leading_(group.self == first_leader && group.incarnation == Incarnation(1)),
      has_led_(leading_) {}

void Leader::propose(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects) {
  if (can_propose()) return propose_next(id, std::move(command), effects);
  const auto why = leading_ || frozen_ ? Rejection::Why::kBusy : Rejection::Why::kNotLeader;
  effects.rejected.push_back({Rejection::Kind::kCommand, why, id, leader_hint_});
}

void Leader::propose_next(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects) {
  if (!stored_leading_) {
    effects.stable.push_back({StableWrite::Kind::kLeading, epoch_, ballot_, window_.next(), nullptr});
    stored_leading_ = true;
  }
  if (window_.open() == 0) timer_.progress();
  const Slot slot = window_.add(id, std::move(command));
  offer(slot, *window_.find(slot), effects);
}

void Leader::learned(Slot slot, const std::string& command) {
  Proposal* proposal = window_.find(slot);
  if (!proposal) return;
  const bool other = proposal->command.get() != &command && *proposal->command != command;
  if (other && proposal->id != 0) {  // no client waits here for what a predecessor proposed
    if (leading_) displaced_.push_back({proposal->id, proposal->command});
    else lost_.push_back(proposal->id);
  }
  window_.close(slot);
  timer_.progress();
}

void Leader::advance(Slot decided, Effects& effects) {
  window_.advance(decided);
  if (!lost_.empty()) reject_lost(effects);
  while (leading_ && !displaced_.empty() && window_.has_room()) {
    Displaced next = std::move(displaced_.front());
    displaced_.pop_front();
    propose_next(next.id, std::move(next.command), effects);
  }
}

// The read index is the next slot, above everything that a client can have been told. The decided slot is too low: the
// Learn of an acknowledged slot may still be on its way here.
void Leader::read(std::uint64_t read_id, Effects& effects) {
  if (!INGOT_RULE("asks-before-reading") && leading_) {
    effects.reads_ready.push_back({read_id, window_.base()});
    return;
  }
  if (!reads_allowed()) {
    const auto why = frozen_ ? Rejection::Why::kBusy : Rejection::Why::kNotLeader;
    effects.rejected.push_back({Rejection::Kind::kRead, why, read_id, leader_hint_});
    return;
  }
  reads_.add(read_id, leader_hint_, effects);
  probe_if_needed(effects);
}

void Leader::probe_if_needed(Effects& effects) {
  if (!reads_allowed() || !reads_.wants_probe()) return;
  reads_.start(INGOT_RULE("mark-is-proposed") ? window_.next() : window_.base());
  probe_timer_.progress();
  send_probe(effects);
}

bool Leader::reads_allowed() const { return leading_ || (frozen_ && !INGOT_RULE("frozen-reads-wait")); }

void Leader::confirm_reads(Effects& effects) {
  reads_.confirm(effects);
  probe_if_needed(effects);
}

// An Abandon with this leader's epoch and ballot says only that the slot is trimmed: the leadership holds. Otherwise a
// newer leader exists. Outstanding proposals may or may not be decided, so none is rejected. Then the protocol reads
// the configuration, and takes over again if it still names this replica.
void Leader::on_abandon(const Message& abandon, Effects& effects) {
  const bool newer = abandon.epoch > epoch_ || (abandon.epoch == epoch_ && abandon.ballot > ballot_);
  if (leading_ && newer) step_down(leader_hint_, effects);
}

bool Leader::lead(Epoch epoch, Ballot ballot, Slot decided, const std::vector<Recovered>& recovered,
                  Effects& effects) {
  ProposalWindow before = std::exchange(window_, window_.empty_copy());
  window_.restart(decided);
  for (const Recovered& each : recovered) {
    const Slot slot = window_.next();
    const Proposal* own = before.find(slot);
    const bool same = own != nullptr && *own->command == *each.command;
    if (!window_.add_recovered(same ? own->id : 0, each.command)) {
      window_ = std::move(before);
      return false;
    }
    if (same) before.close(slot);
    if (each.decided) window_.close(slot);
  }
  before.for_each_open([&](Slot, const Proposal& proposal) { lost_.push_back(proposal.id); });
  epoch_ = epoch;
  ballot_ = ballot;
  leading_ = stored_leading_ = has_led_ = true;
  frozen_ = false;
  trimmed_ = Slot(0);
  timer_.progress();
  probe_timer_.progress();
  reject_lost(effects);
  window_.for_each_open([&](Slot slot, const Proposal& proposal) { offer_again(slot, proposal, effects); });
  return true;
}

void Leader::freeze(Effects& effects) {
  if (!leading_) return;
  leading_ = false;
  frozen_ = true;
  reads_.reject_all(leader_hint_, effects);
}

void Leader::step_down(EndpointId leader, Effects& effects) {
  leader_hint_ = leader;
  if (!leading_ && !frozen_) return;
  leading_ = frozen_ = false;
  for (const Displaced& displaced : displaced_) lost_.push_back(displaced.id);
  displaced_.clear();
  reject_lost(effects);
  reads_.reject_all(leader_hint_, effects);
}

void Leader::reject_lost(Effects& effects) {
  for (const std::uint64_t id : std::exchange(lost_, {})) {
    if (id == 0) continue;  // a recovered proposal of another leader: no client waits for it here
    effects.rejected.push_back({Rejection::Kind::kCommand, Rejection::Why::kNotLeader, id, leader_hint_});
  }
}

// Proposals and probes wait for separate answers: frequent answers to one kind must not put off the retransmission of
// the other.
void Leader::tick(Effects& effects) {
  if (!leading_) return;
  if (window_.open() > 0 && timer_.due()) resend_proposals(effects);
  if (reads_.under_way() && probe_timer_.due()) send_probe(effects);
}

void Leader::resend(Effects& effects) {
  if (!leading_) return;
  resend_proposals(effects);
  if (reads_.under_way()) send_probe(effects);
}

void Leader::resend_proposals(Effects& effects) {
  RetransmitBudget budget;
  window_.for_each_open([&](Slot slot, const Proposal& proposal) {
    if (budget.grant(proposal.command->size())) offer_again(slot, proposal, effects);
  });
}

void Leader::trim(Slot keep_from, Effects& effects) {
  keep_from = std::min(keep_from, window_.base());
  if (!stored_leading_ || keep_from <= trimmed_) return;
  trimmed_ = keep_from;
  effects.stable.push_back({StableWrite::Kind::kTrimmed, epoch_, ballot_, keep_from, nullptr});
}

Message Leader::accept(Slot slot, const Proposal& proposal) const {
  return {.type = MessageType::kAccept, .epoch = epoch_, .ballot = ballot_, .slot = slot, .command = proposal.command};
}

Message Leader::probe() const {
  return {.type = MessageType::kReadProbe, .epoch = epoch_, .ballot = ballot_, .number = reads_.number()};
}

}  // namespace ingot::replication_agreement
