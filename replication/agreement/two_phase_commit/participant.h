// 2PC, a participant: prepares, votes, and then waits for the outcome, however long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/mailbox.h"

namespace ingot::inline replication_agreement_two_phase_commit {

// Every replica but the coordinator, voter or not, in its first incarnation. Every replica may serve reads because
// every replica prepares. A yes is stored before it is sent, and it binds: the slot is in doubt here until the
// coordinator sends the outcome. Votes no only on a slot outside its window or bytes beyond its bound. Not thread-safe.
class TwoPhaseParticipant {
 public:
  // REQUIRES: both outlive this.
  TwoPhaseParticipant(const GroupConfig& group, const Learner& learner, Mailbox& mailbox);

  bool active() const { return active_; }
  // Every slot that any replica can have applied lies below it: no slot commits that was not prepared here.
  Slot prepared_end() const { return prepared_end_; }

  void on_prepare(EndpointId from, const Message& prepare, Effects& effects);
  void on_outcome(EndpointId from, const Message& outcome, Effects& effects);
  void applied(Slot applied, Effects& effects);

  // Sends the coordinator again everything that it may have missed.
  void resend(Effects& effects);

  bool in_doubt() const { return in_doubt_ > 0; }
  // The slots in doubt lie in [in_doubt_begin(), prepared_end()).
  Slot in_doubt_begin() const;
  // Slots below it came with a snapshot: they are in doubt no longer.
  void installed(Slot first_undecided);

 private:
  using Command = std::shared_ptr<const std::string>;

  Command& prepared(Slot slot) { return ring_[slot.value() & (ring_.size() - 1)]; }
  const Command& prepared(Slot slot) const { return ring_[slot.value() & (ring_.size() - 1)]; }
  void forget(Slot slot);
  bool in_window(Slot slot) const;
  bool store(const Message& prepare, Effects& effects);
  void vote(Slot slot, bool yes, Effects& effects);
  void acknowledge(Effects& effects);

  const GroupConfig group_;
  const Learner& learner_;
  Mailbox& mailbox_;
  const bool active_;
  const EndpointId coordinator_{0};
  const Epoch epoch_{1};
  const Ballot ballot_{1};
  std::vector<Command> ring_;  // prepared and undecided, slot s at s % size (a power of two), null elsewhere
  int in_doubt_ = 0;           // slots in ring_
  std::size_t in_doubt_bytes_ = 0;
  Slot prepared_end_;
  Slot applied_;
};

}  // namespace ingot::replication_agreement_two_phase_commit
