// 1Paxos, the acceptor: the one place where contention for a slot is settled.
#pragma once

#include "replication/agreement/accepted_log.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/one_paxos/configuration.h"

namespace ingot {

// Active if the first configuration names this replica, and from the first Prepare of a newer epoch on. Knows nothing of
// the configuration otherwise: it obeys epochs and ballots alone. A Prepare, not the reading of the configuration, makes it
// an acceptor: else a promise that it gave under the older epoch could be taken for one under the newer. Invariant: within
// its epoch a slot, once stored, never changes; and nothing is told to anybody before it is stored. Not thread-safe.
class OnePaxosAcceptor {
 public:
  // REQUIRES: mailbox outlives this.
  OnePaxosAcceptor(const GroupConfig& group, Mailbox& mailbox);

  // True if this replica holds an epoch, so that a leader may talk to it.
  bool active() const { return epoch_.value() > 0; }
  Epoch epoch() const { return epoch_; }
  Slot end() const { return accepted_.end(); }

  // A new leader asks for a promise and for what is stored from a slot on, a page at a time.
  void on_prepare(EndpointId from, const Message& prepare, Effects& effects);

  // False: the slot is too far above `decided`, what this replica's learner has, and above all that is stored here.
  // REQUIRES: `decided` is that.
  bool on_accept(EndpointId from, const Message& accept, Slot decided, Effects& effects);
  void on_read_probe(EndpointId from, const Message& probe, Effects& effects);

  void trim(Slot keep_from, Effects& effects);

 private:
  void abandon(EndpointId to, Effects& effects);
  Message promise(Slot from) const;
  void store(const Message& accept, Effects& effects);

  EndpointId self_;
  Incarnation incarnation_;
  Mailbox& mailbox_;
  bool stored_promise_ = false;  // the first promise, which came with the first configuration, is in the segment
  Epoch epoch_;
  Ballot promised_;
  AcceptedLog accepted_;
  Slot kept_from_;  // of trim()
};

}  // namespace ingot
