// 2PC, the coordinator: asks all replicas, commits if all vote yes, aborts if one votes no, and answers once all have
// applied.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/window.h"

namespace ingot::inline replication_agreement_two_phase_commit {

// Replica 0, in its first incarnation. Its own vote is its proposal, stored before it is sent. A slot goes from
// preparing to committed or aborted, and from there to decided here only when every replica has acknowledged that it
// applied the slot: a client that the coordinator has answered may then read the effect on any replica. Slots overlap
// within the window. Not thread-safe.
class TwoPhaseCoordinator {
 public:
  // REQUIRES: mailbox outlives this.
  TwoPhaseCoordinator(const GroupConfig& group, Mailbox& mailbox);

  bool active() const { return active_; }
  bool can_propose() const { return active_ && window_.has_room(); }
  Slot next_slot() const { return window_.next(); }
  Slot oldest() const { return window_.base(); }  // first undecided slot, or the next to propose
  // Every slot that any replica can have applied lies below it.
  Slot settled_end() const { return settled_end_; }

  void propose(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects);
  void on_vote(EndpointId from, const Message& vote, Effects& effects);
  void on_acknowledge(EndpointId from, const Message& acknowledge, Effects& effects);
  void advance(Slot decided);

  void tick(Effects& effects);
  bool wants_tick() const { return window_.open() > 0; }
  // Sends `peer` again everything that it has not answered.
  void resend(EndpointId peer, Effects& effects);

  // Replicas that have not answered about the oldest undecided slot; none if there is no such slot.
  ReplicaSet awaited() const;

 private:
  enum Phase : std::uint8_t { kPreparing = 0, kCommitted = 1, kAborted = 2 };

  void settle(Slot slot, Proposal& proposal, Phase phase, Effects& effects);
  void decide_acknowledged(Effects& effects);
  bool awaits(EndpointId peer, Slot slot, const Proposal& proposal) const;
  Message prepare(Slot slot, const Proposal& proposal) const;
  Message outcome(Slot slot, const Proposal& proposal) const;

  const GroupConfig group_;
  Mailbox& mailbox_;
  const bool active_;
  const Epoch epoch_{1};
  const Ballot ballot_{1};
  ProposalWindow window_;
  std::vector<Slot> applied_by_;  // by replica: slots below it are applied there; no bound for this one
  Slot learned_;                  // slots below it were passed to this replica's learner
  Slot settled_end_;
  RetransmitTimer timer_;
};

}  // namespace ingot::replication_agreement_two_phase_commit
