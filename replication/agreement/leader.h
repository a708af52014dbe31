// What a leader does in 1Paxos and in Multi-Paxos alike: slots, window, repetition, reads, and stepping down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/reads.h"
#include "replication/agreement/window.h"

namespace ingot {

// Leads until somebody who votes turns it away with a newer ballot, or step_down; again from lead() on. A protocol derives
// from it and says how a proposal and a read's question reach those who vote. Not thread-safe.
class Leader {
 public:
  // What a new leader found for a slot, from its first undecided one on without holes.
  struct Recovered {
    std::shared_ptr<const std::string> command;  // empty: a no-op
    bool decided = false;                        // known to be: it keeps its place, and is not offered again
  };

  // REQUIRES: mailbox outlives this.
  Leader(const GroupConfig& group, EndpointId first_leader, Epoch epoch, Ballot ballot, Mailbox& mailbox);
  virtual ~Leader() = default;

  bool leading() const { return leading_; }
  bool can_propose() const { return leading_ && displaced_.empty() && window_.has_room(); }
  Epoch epoch() const { return epoch_; }    // of the last leadership
  Ballot ballot() const { return ballot_; }

  // Begins a leadership whose proposals, and that it leads, are in the segment: `recovered` gets the slots from `decided`
  // on and is offered at once, before any proposal of its own. What was proposed before and is not among them is lost,
  // and rejected. False, and nothing happens: the window has fewer slots.
  [[nodiscard]] bool lead(Epoch epoch, Ballot ballot, Slot decided, const std::vector<Recovered>& recovered,
                          Effects& effects);

  // No proposal and no read until lead() or step_down(): what is outstanding stays so.
  void freeze(Effects& effects);
  bool frozen() const { return frozen_; }

  // `leader` leads now, as far as is known. What was proposed may or may not be decided.
  void step_down(EndpointId leader, Effects& effects);
  void set_leader_hint(EndpointId leader) { leader_hint_ = leader; }

  // Whether the leadership of ballot() was this replica's at all.
  bool has_led() const { return has_led_; }

  void for_each_proposal(absl::FunctionRef<void(Slot, const Proposal&)> visit) const { window_.for_each_open(visit); }
  // The proposal for a slot that is not known to be decided here; null if there is none.
  const Proposal* proposal(Slot slot) const { return window_.find(slot); }
  Slot next_slot() const { return window_.next(); }

  void propose(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects);
  void read(std::uint64_t read_id, Effects& effects);

  // The slot is decided. If with another command than the one proposed for it, that one gets a new slot; of who leads no
  // more, it is rejected.
  void learned(Slot slot, const std::string& command);
  // Slots below it are decided here, contiguously.
  void advance(Slot decided, Effects& effects);

  void on_abandon(const Message& abandon, Effects& effects);

  void tick(Effects& effects);
  bool wants_tick() const { return leading_ && (window_.open() > 0 || reads_.under_way()); }
  // Says again everything that is outstanding.
  void resend(Effects& effects);

  // Slots below it need no re-proposing ever again.
  void trim(Slot keep_from, Effects& effects);

 protected:
  // A new proposal: what must be stored, and to those who vote.
  virtual void offer(Slot slot, const Proposal& proposal, Effects& effects) = 0;
  // The same again, to those who have not answered.
  virtual void offer_again(Slot slot, const Proposal& proposal, Effects& effects) = 0;
  // A ReadProbe with probe() to those who vote and have not confirmed it.
  virtual void send_probe(Effects& effects) = 0;

  // The probe under way is confirmed: the next one leaves, if reads wait.
  void confirm_reads(Effects& effects);
  bool owns(const Message& message) const { return message.epoch == epoch_ && message.ballot == ballot_; }
  Message accept(Slot slot, const Proposal& proposal) const;
  Message probe() const;

  Mailbox& mailbox_;
  Epoch epoch_;
  Ballot ballot_;
  ProposalWindow window_;
  ReadProbes reads_;
  RetransmitTimer timer_;  // of proposals

 private:
  struct Displaced {
    std::uint64_t id;
    std::shared_ptr<const std::string> command;
  };

  void propose_next(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects);
  void probe_if_needed(Effects& effects);
  void resend_proposals(Effects& effects);
  void reject_lost(Effects& effects);

  RetransmitTimer probe_timer_;
  EndpointId leader_hint_;
  bool leading_;
  bool has_led_;
  bool frozen_ = false;  // valid if not leading: it did, and may again
  bool stored_leading_ = false;  // kLeading went to the segment
  Slot trimmed_;
  std::deque<Displaced> displaced_;  // at most a window full: each had a slot
  std::vector<std::uint64_t> lost_;  // proposals of who leads no more that another command took the place of
};

}  // namespace ingot
