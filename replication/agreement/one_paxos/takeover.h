// 1Paxos, taking over: how the replica that the configuration names leader learns what its predecessors may have had
// stored, before it leads.
#pragma once

#include "replication/agreement/one_paxos/state.h"

namespace ingot {

// Prepare and Promise with the acceptor, a page at a time. What the acceptor of this epoch has stored is chosen: so it is
// learned like a decision. Slots below the base and below what the acceptor has trimmed must come from peers: until then
// nobody leads. Not thread-safe.
class OnePaxosTakeover {
 public:
  explicit OnePaxosTakeover(OnePaxosState& state) : state_(state) {}

  // The newest entry of the log names this replica leader.
  void begin(Effects& effects);
  // It leads no more, or must not use a promise that may still come.
  void cancel() { active_ = false; }
  bool active() const { return active_; }
  // Whether only the acceptor can help on.
  bool waits_for_acceptor() const { return active_ && !promised_; }
  bool waits_for_peers() const { return active_ && state_.learner.decided() < need_; }

  void on_promise(EndpointId from, const Message& promise, Effects& effects);
  // Something was learned.
  void step(Effects& effects);
  void tick(Effects& effects);

 private:
  void prepare(Effects& effects);
  bool learn_votes(const Message& promise, Effects& effects);
  void learn_outside_window(const Message& promise, Effects& effects);
  void complete(Slot accepted_end, Effects& effects);

  OnePaxosState& state_;
  bool active_ = false;
  bool promised_ = false;  // an answer came; valid if active_
  bool again_ = false;     // once the slots below need_ are decided, the acceptor is asked again
  Slot need_;
  RetransmitTimer timer_;
};

}  // namespace ingot
