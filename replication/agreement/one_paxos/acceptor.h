// 1Paxos, the acceptor: the one replica that decides which leader's command gets a slot.
#pragma once

#include "replication/agreement/accepted_log.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/one_paxos/configuration.h"

namespace ingot::inline replication_agreement_one_paxos {

// Active if the first configuration names this replica, and from the first Prepare of a newer epoch on. It does not
// read the configuration otherwise: it follows epochs and ballots only. A Prepare, and not the configuration entry,
// makes it an acceptor: otherwise a promise that it gave in the older epoch could be taken for one in the newer.
// Invariant: within its epoch a stored slot never changes, and each promise and vote is stored before it is sent. Not
// thread-safe.
class OnePaxosAcceptor {
 public:
  // REQUIRES: mailbox outlives this.
  OnePaxosAcceptor(const GroupConfig& group, Mailbox& mailbox);

  // True if this replica is the acceptor of an epoch, so that a leader may send to it.
  bool active() const { return epoch_.value() > 0; }
  Epoch epoch() const { return epoch_; }
  Slot end() const { return accepted_.end(); }

  // A new leader asks for a promise and for the accepted entries from a slot on, a page at a time.
  void on_prepare(EndpointId from, const Message& prepare, Effects& effects);

  // A new epoch: nothing is promised or accepted in it yet, and slots below `base` count as trimmed.
  void begin(Epoch epoch, Slot base);

  // False: the slot is too far above `decided` and above every slot stored here.
  // REQUIRES: slots below `decided` are decided in this replica's learner.
  bool on_accept(EndpointId from, const Message& accept, Slot decided, Effects& effects);
  void on_read_probe(EndpointId from, const Message& probe, Effects& effects);

  void trim(Slot keep_from, Effects& effects);

 private:
  void abandon(EndpointId to, Effects& effects);
  Message promise(Slot from) const;
  void store(EndpointId from, const Message& accept, Effects& effects);

  EndpointId self_;
  Incarnation incarnation_;
  Mailbox& mailbox_;
  bool stored_promise_ = false;  // the first configuration's implicit promise is in the segment
  Epoch epoch_;
  Ballot promised_;
  AcceptedLog accepted_;
  Slot kept_from_;  // of trim()
};

}  // namespace ingot::replication_agreement_one_paxos
