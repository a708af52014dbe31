// Multi-Paxos, a voter: stores promises and votes.
#pragma once

#include <memory>
#include <string>

#include "replication/agreement/accepted_log.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/mailbox.h"

namespace ingot::inline replication_agreement_multi_paxos {

// Invariant: never votes below its promise, and stores each promise and vote before it sends it. A later incarnation
// inherits what its predecessor stored. Without that it never votes, since it does not know what was promised. Not
// thread-safe.
class MultiPaxosVoter {
 public:
  // REQUIRES: mailbox outlives this.
  MultiPaxosVoter(const GroupConfig& group, Mailbox& mailbox);

  // Stores what was inherited, and last the mark that it is complete (StableView::may_be_inherited).
  void start(Effects& effects);

  bool active() const { return active_; }
  Ballot promised() const { return promised_; }

  // `decided`: slots below it are decided in this replica's learner.
  void on_accept(EndpointId from, const Message& accept, Slot decided, Effects& effects);
  // Promises, and answers with the votes from the Prepare's slot on, as many as one message holds.
  void on_prepare(EndpointId from, const Message& prepare, Effects& effects);
  void on_read_probe(EndpointId from, const Message& probe, Effects& effects);
  void trim(Slot keep_from, Effects& effects);

  // Slots below it are decided, and their votes trimmed, here or by the predecessor.
  Slot trimmed() const { return accepted_.trimmed(); }
  Slot end() const { return accepted_.end(); }

  // The command of a Learn: the stored object if it is equal, so that command log and accepted log share it, else a
  // copy.
  std::shared_ptr<const std::string> shared_command(const Message& learn) const;
  // The command of a Chosen: what this voter has voted for under its ballot; null if it has not.
  std::shared_ptr<const std::string> chosen_command(const Message& chosen) const;

 private:
  void inherit(const StableView& view);
  bool is_owner(EndpointId from, Ballot ballot) const;
  void abandon(EndpointId to, Effects& effects);
  void promise(Ballot ballot, Effects& effects);
  void vote(const Message& accept, Effects& effects);

  Mailbox& mailbox_;
  const int voters_;
  bool active_;
  bool inherited_ = false;
  const Epoch epoch_{1};
  Ballot promised_;
  AcceptedLog accepted_;
};

}  // namespace ingot::replication_agreement_multi_paxos
