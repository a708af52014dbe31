// Multi-Paxos, a candidate: collects a majority's promises, and with them everything that can have been decided.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/replica_set.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/leader.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/window.h"

namespace ingot::inline replication_agreement_multi_paxos {

// A voter answers in parts: each Prepare to it asks for votes from where the last part ended, or from the first slot
// still undecided here. Ready once a majority has sent all its votes, and every slot that any of these voters has
// trimmed is decided here. Keeps the voters' undecided entries until the slot is decided or the candidacy ends. Not
// thread-safe.
class MultiPaxosPrepare {
 public:
  // REQUIRES: both outlive this.
  MultiPaxosPrepare(const GroupConfig& group, const Learner& learner, Mailbox& mailbox);

  bool under_way() const { return ballot_ > Ballot(0); }
  Ballot ballot() const { return ballot_; }  // valid if under way

  // REQUIRES: the ballot is this replica's and was never used.
  void start(Ballot ballot, Effects& effects);
  void give_up();

  void on_promise(EndpointId from, const Message& promise, Effects& effects);

  // All slots below it must be decided here before this candidate may lead.
  Slot trimmed() const { return trimmed_; }
  bool ready() const;
  // Ends the candidacy. Returns what the leader must propose, from learner.decided() on, without holes: for each slot
  // the vote of the highest ballot, or the command known to be decided, or a no-op.
  // REQUIRES: ready().
  std::vector<Leader::Recovered> take();

  void tick(Effects& effects);
  // Sends `voter` again what it has not answered.
  void ask(EndpointId voter, Effects& effects);

  bool has_majority() const { return majority(); }
  ReplicaSet awaited() const { return ReplicaSet::first(voters_) - complete_; }  // voters that have not sent all votes

 private:
  struct Found {
    Ballot ballot;
    std::shared_ptr<const std::string> command;
  };

  bool majority() const;
  bool complete(EndpointId voter) const { return complete_.contains(voter); }

  const EndpointId self_;
  const int voters_;
  const Learner& learner_;
  Mailbox& mailbox_;
  Ballot ballot_;  // 0: not a candidate
  std::vector<Slot> next_;  // by voter: votes below it are here, or decided
  ReplicaSet complete_;     // voters that have sent all their votes
  Slot trimmed_;
  std::map<Slot, Found> found_;
  RetransmitTimer timer_;
};

}  // namespace ingot::replication_agreement_multi_paxos
