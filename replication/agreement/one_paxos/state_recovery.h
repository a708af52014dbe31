// 1Paxos, knowledge without a promise: what can have been stored at an acceptor that does not answer.
//
// Two ways, both only for the winner of a LeaderChange, and both end in an AcceptorChange:
//  a  salvage: the acceptor is known dead, so its segment is final: what it accepted in this epoch, or nothing
//  b  walk-back: from the winner's entry back to the epoch's first, each entry's leader, if it lives, steps down and says
//     what it proposed under that ballot; if it is dead, its segment says so; if it is stopped, one waits. The first one
//     that had completed its takeover knew everything before it. None had: nothing was sent in this epoch.
#pragma once

#include "replication/agreement/one_paxos/state.h"

namespace ingot {

// Not thread-safe.
class OnePaxosStateRecovery {
 public:
  explicit OnePaxosStateRecovery(OnePaxosState& state) : state_(state) {}

  // For a new takeover, or none.
  void reset();

  // Way a. REQUIRES: the acceptor is known dead.
  void salvage(Effects& effects);
  // Way b.
  void walk_back(Effects& effects);
  bool walking() const { return at_ > 0; }
  // Whom it waits for, on way b; nobody if not walking().
  ReplicaIncarnation waits_for() const { return state_.log.at(at_).leader; }
  bool segment_missing() const { return missing_; }

  void salvaged(ReplicaIncarnation name, const StableView* view, Effects& effects);
  void on_stepped_down(EndpointId from, const Message& answer, Effects& effects);

  // All is known, and all below it is decided here: found() is then complete.
  bool complete(Effects& effects);
  const OnePaxosState::Slots& found() const { return found_; }

  // Asks again what is not answered.
  void tick(Effects& effects);

 private:
  void ask(Effects& effects);
  void finish(Slot need, Slot proposed_end);
  void read_acceptor(const StableView* view, Effects& effects);
  void read_leader(const StableView* view, Effects& effects);

  OnePaxosState& state_;
  bool salvaging_ = false;
  std::uint64_t at_ = 0;  // the entry whose leader is asked; 0: none
  bool known_ = false;
  bool facts_ = false;    // found_ was stored by the acceptor, hence chosen; valid if known_
  bool missing_ = false;  // a segment that is needed cannot be read
  Slot need_;             // slots below it must come from elsewhere; valid if known_
  Slot proposed_end_;     // above all that was proposed before this replica's entry of the log; valid if known_
  OnePaxosState::Slots found_;
  RetransmitTimer timer_;
};

// The other side: what a former leader says, having stepped down.
Message stepped_down(const OnePaxosState& state, const Message& question);

}  // namespace ingot
