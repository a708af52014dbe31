// Multi-Paxos, the leader: asks the voters, counts their votes, and relays what is decided to all.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/replica_set.h"
#include "replication/agreement/leader.h"

namespace ingot {

// Replica 0 leads from the start; others after they have won. A leader is a voter itself: its own vote is stored like
// any other, by its voter part. The first to know of a decision, hence the one who tells. Not thread-safe.
class MultiPaxosLeader : public Leader {
 public:
  // REQUIRES: mailbox outlives this.
  MultiPaxosLeader(const GroupConfig& group, Mailbox& mailbox);

  // Begins a leadership, and proposes `recovered` again, all of it, from slot `decided` on: as much as the window holds
  // now, the rest through feed(), and before anything new.
  void take_over(Ballot ballot, Slot decided, std::vector<Recovered> recovered, Effects& effects);
  bool recovering() const { return !rest_.empty(); }
  void feed(Effects& effects);
  // The slot is decided. Own proposals for it of earlier leaderships that were not found again come to an end:
  // rejected, unless it is they. (Not sooner: a voter that has not promised may hold one, for a later leader to find.)
  void settle_orphans(Slot slot, const std::string& command, EndpointId leader, Effects& effects);
  // As Leader's; what was not proposed again is the next leader's to find.
  void depose(EndpointId leader, Effects& effects);

  // Says again to one voter what it has not answered.
  void resend_to(EndpointId voter, Effects& effects);

  void on_accepted(EndpointId from, const Message& accepted, Effects& effects);
  void on_read_confirm(EndpointId from, const Message& confirm, Effects& effects);

  // Ticks go by without a decision while some are wanted: the voters do not answer.
  void count_tick(Slot decided);
  bool blocked() const { return leading() && window_.open() > 0 && stalled_ticks_ >= kBlockedTicks; }
  // A voter that has not answered about the oldest undecided slot.
  EndpointId awaited() const;

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
  std::deque<std::shared_ptr<const std::string>> rest_;  // recovered, not proposed again yet: slots rest_begin_, ...
  Slot rest_begin_;
  std::multimap<Slot, Proposal> orphans_;  // at most kOrphansMax; of more, the outcome is not told
  ReplicaSet spared_;  // voters that are left out for the moment
  Slot stalled_at_;
  int stalled_ticks_ = 0;
};

}  // namespace ingot
