// The leader's work that 1Paxos and Multi-Paxos share: slots, window, retransmission, reads, and stepping down.
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

namespace ingot::inline replication_agreement {

// Leads until a voter's newer ballot rejects it, or until step_down; lead() begins the next leadership. A protocol
// derives from it and defines how a proposal and a read probe reach its acceptor or voters. Not thread-safe.
class Leader {
 public:
  // What a new leader found for a slot: from its first undecided slot on, without holes.
  struct Recovered {
    std::shared_ptr<const std::string> command;  // empty: a no-op
    bool decided = false;                        // known decided: keeps its slot, and is not proposed again
  };

  // REQUIRES: mailbox outlives this.
  Leader(const GroupConfig& group, EndpointId first_leader, Epoch epoch, Ballot ballot, Mailbox& mailbox);
  virtual ~Leader() = default;

  bool leading() const { return leading_; }
  bool can_propose() const { return leading_ && displaced_.empty() && window_.has_room(); }
  Epoch epoch() const { return epoch_; }    // of the last leadership
  Ballot ballot() const { return ballot_; }

  // Begins a leadership. kLeading and the proposals of `recovered` are in the segment already. `recovered` gets the
  // slots from `decided` on and is proposed at once, before any new proposal. Earlier proposals of this replica that
  // are not in `recovered` are lost, and rejected. Returns false, without effect, if the window has fewer slots.
  [[nodiscard]] bool lead(Epoch epoch, Ballot ballot, Slot decided, const std::vector<Recovered>& recovered,
                          Effects& effects);

  // No proposal and no read until lead() or step_down(); outstanding ones stay outstanding.
  void freeze(Effects& effects);
  bool frozen() const { return frozen_; }

  // `leader` leads now, as far as this replica knows. Outstanding proposals may or may not be decided.
  void step_down(EndpointId leader, Effects& effects);
  void set_leader_hint(EndpointId leader) { leader_hint_ = leader; }

  // Whether this replica has led under ballot().
  bool has_led() const { return has_led_; }

  void for_each_proposal(absl::FunctionRef<void(Slot, const Proposal&)> visit) const { window_.for_each_open(visit); }
  // The proposal for a slot that is not known to be decided here; null if there is none.
  const Proposal* proposal(Slot slot) const { return window_.find(slot); }
  Slot next_slot() const { return window_.next(); }
  // Whether the message is about what this replica proposed in its last leadership.
  bool owns(const Message& message) const { return message.epoch == epoch_ && message.ballot == ballot_; }

  void propose(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects);
  void read(std::uint64_t read_id, Effects& effects);

  // The slot is decided. If with another command than the one that a client of this replica proposed for it, that one
  // gets a new slot; if this replica no longer leads, it is rejected.
  void learned(Slot slot, const std::string& command);
  // All slots below `decided` are decided here.
  void advance(Slot decided, Effects& effects);

  void on_abandon(const Message& abandon, Effects& effects);

  void tick(Effects& effects);
  bool wants_tick() const { return leading_ && (window_.open() > 0 || reads_.under_way()); }
  // Sends everything outstanding again.
  void resend(Effects& effects);

  // Slots below `keep_from` never need to be proposed again.
  void trim(Slot keep_from, Effects& effects);

 protected:
  // A new proposal: stores it and sends it to the acceptor or voters.
  virtual void offer(Slot slot, const Proposal& proposal, Effects& effects) = 0;
  // Sends a proposal again, to the voters that have not answered.
  virtual void offer_again(Slot slot, const Proposal& proposal, Effects& effects) = 0;
  // Sends a ReadProbe with probe() to the acceptor, or to the voters that have not confirmed it.
  virtual void send_probe(Effects& effects) = 0;

  // Reads may be asked for and answered.
  bool reads_allowed() const;
  // The outstanding probe is confirmed: the next one leaves if reads wait.
  void confirm_reads(Effects& effects);
  Message accept(Slot slot, const Proposal& proposal) const;
  Message probe() const;

  Mailbox& mailbox_;
  Epoch epoch_;
  Ballot ballot_;
  ProposalWindow window_;
  ReadProbes reads_;
  RetransmitTimer timer_;  // retransmits proposals

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
  bool frozen_ = false;  // valid if not leading: it led, and may lead again
  bool stored_leading_ = false;  // kLeading is in the segment
  Slot trimmed_;
  std::deque<Displaced> displaced_;  // at most a full window: each had a slot
  std::vector<std::uint64_t> lost_;  // proposals after a lost leadership whose slots got other commands
};

}  // namespace ingot::replication_agreement
