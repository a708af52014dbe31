// Multi-Paxos, the leader: proposes to the voters, counts their votes, and sends decisions to all learners.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/replica_set.h"
#include "replication/agreement/leader.h"
#include "replication/agreement/stored.h"

namespace ingot::inline replication_agreement_multi_paxos {

// Replica 0 leads from the start, others after they have won. A leader is a voter, too: its voter part stores its own
// vote like any other. The leader is the first to know of a decision and sends it to the others. Not thread-safe.
class MultiPaxosLeader : public Leader {
 public:
  // REQUIRES: mailbox outlives this.
  MultiPaxosLeader(const GroupConfig& group, Mailbox& mailbox);

  // Begins a leadership, and proposes `recovered` again from slot `decided` on, before anything new: as much as the
  // window holds and this replica's store has room for at once, the rest through feed().
  void take_over(Ballot ballot, Slot decided, std::vector<Recovered> recovered, StableRoom& room, Effects& effects);
  bool recovering() const { return !rest_.empty(); }
  void feed(StableRoom& room, Effects& effects);
  // The slot is decided. Ends this replica's proposals for it from earlier leaderships that recovery did not find: each
  // is rejected unless its command is the decided one. Not sooner: a voter that has not promised may hold such a
  // proposal, for a later leader to find.
  void settle_orphans(Slot slot, const std::string& command, EndpointId leader, Effects& effects);
  // As Leader::step_down. The next leader finds what was not proposed again.
  void depose(EndpointId leader, Effects& effects);

  // Sends one voter everything that it has not answered.
  void resend_to(EndpointId voter, Effects& effects);

  void on_accepted(EndpointId from, const Message& accepted, Effects& effects);
  // A later incarnation of the replica runs. A voter's votes only if it has inherited the promises.
  void restarted(EndpointId replica) { silent_.insert(replica); }
  // The newest incarnation does.
  void votes(EndpointId replica) { silent_.erase(replica); }
  void on_read_confirm(EndpointId from, const Message& confirm, Effects& effects);

  // A voter's answer about a proposal or a read is awaited.
  bool waits_for_voters() const { return leading() && (window_.open() > 0 || reads_.under_way()); }
  // Voters that have not answered about the oldest undecided slot or, without one, about the reads.
  ReplicaSet awaited() const;

 private:
  void offer(Slot slot, const Proposal& proposal, Effects& effects) override;
  void offer_again(Slot slot, const Proposal& proposal, Effects& effects) override;
  void send_probe(Effects& effects) override;
  bool majority(ReplicaSet votes) const;
  void to_voters_except(ReplicaSet answered, const Message& message, Effects& effects);

  void orphan_unless_in(const std::vector<Recovered>& recovered, Slot first);

  static constexpr std::size_t kOrphansMax = 1024;

  const EndpointId self_;
  const int voters_;
  const std::size_t window_slots_;
  std::deque<std::shared_ptr<const std::string>> rest_;  // recovered, not yet proposed again: slots from rest_begin_ on
  Slot rest_begin_;
  std::multimap<Slot, Proposal> orphans_;  // at most kOrphansMax; beyond that their outcome is not reported
  ReplicaSet spared_;  // voters to skip; set within resend_to only
  ReplicaSet silent_;  // of later incarnations, and no vote of theirs has come: perhaps they never vote
};

}  // namespace ingot::replication_agreement_multi_paxos
