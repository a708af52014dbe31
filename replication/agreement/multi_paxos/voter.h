// Multi-Paxos, a voter: promises, votes, and remembers both.
#pragma once

#include <memory>
#include <string>

#include "replication/agreement/accepted_log.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/mailbox.h"

namespace ingot {

// Invariant: never votes below its promise, and tells nobody of a promise or vote before it is stored. A later
// incarnation inherits what its predecessor stored; without that it never votes, since it does not know what was
// promised. Not thread-safe.
class MultiPaxosVoter {
 public:
  // REQUIRES: mailbox outlives this.
  MultiPaxosVoter(const GroupConfig& group, Mailbox& mailbox);

  // Stores what was inherited, and last a word that says that this is all of it (StableView::may_be_inherited).
  void start(Effects& effects);

  bool active() const { return active_; }
  Ballot promised() const { return promised_; }

  // `decided` is what this replica's learner has.
  void on_accept(EndpointId from, const Message& accept, Slot decided, Effects& effects);
  // Promises, and answers with the votes from the Prepare's slot on, as many as one message may hold.
  void on_prepare(EndpointId from, const Message& prepare, Effects& effects);
  void on_read_probe(EndpointId from, const Message& probe, Effects& effects);
  void trim(Slot keep_from, Effects& effects);

  // Slots below it are decided, and their votes forgotten, here or by the predecessor.
  Slot trimmed() const { return accepted_.trimmed(); }
  Slot end() const { return accepted_.end(); }

  // The command of a Learn: the stored one if it is the same, so that the two logs share it, else a copy.
  std::shared_ptr<const std::string> shared_command(const Message& learn) const;

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

}  // namespace ingot
