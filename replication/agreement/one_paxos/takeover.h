// 1Paxos, takeover: the replica that the configuration names leader learns what its predecessors may have had accepted,
// before it leads.
#pragma once

#include <vector>

#include "replication/agreement/one_paxos/state.h"

namespace ingot::inline replication_agreement_one_paxos {

// Prepare and Promise with the acceptor, a page at a time. What the acceptor of this epoch has stored is chosen, so it
// is learned like a decision. Slots below the base, and those that the acceptor has trimmed, must come from peers: the
// replica does not lead before. Not thread-safe.
class OnePaxosTakeover {
 public:
  explicit OnePaxosTakeover(OnePaxosState& state) : state_(state) {}

  // The newest entry of the log makes this replica the leader. If it led already, it asks the acceptor whether it still
  // does, and goes on at the same ballot with the proposals that it had.
  void begin(Effects& effects);
  // This replica no longer leads, or must not use a promise that may still arrive.
  void cancel() { active_ = false; }
  bool active() const { return active_; }
  // Whether the takeover can only proceed with the acceptor's answer.
  bool waits_for_acceptor() const { return active_ && !promised_; }
  // The acceptor has answered and all is known: only the segment is too full.
  bool waits_for_room() const {
    return active_ && promised_ && state_.learner.decided() >= need_ && full_;
  }

  void on_promise(EndpointId from, const Message& promise, Effects& effects);
  // Slots were learned.
  void step(Effects& effects);
  void tick(Effects& effects);

 private:
  Ballot ballot() const;
  void prepare(Effects& effects);
  bool learn_votes(const Message& promise, Effects& effects);
  void learn_outside_window(const Message& promise, Effects& effects);
  void complete(Slot accepted_end, Effects& effects);
  std::vector<StableWrite> takeover_writes(Slot decided, const std::vector<Leader::Recovered>& recovered) const;

  OnePaxosState& state_;
  bool active_ = false;
  bool promised_ = false;  // an answer came; valid if active_
  bool full_ = false;      // the newest promise left nothing to do but to store, without room; valid if active_
  bool again_ = false;     // asks the acceptor again once the slots below need_ are decided
  Slot need_;
  RetransmitTimer timer_;
};

}  // namespace ingot::replication_agreement_one_paxos
