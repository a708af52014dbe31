// 1Paxos, acceptor-state recovery: finds out what an acceptor that does not answer may have accepted.
//
// Two ways, both only for the winner of a LeaderChange, and both end in an AcceptorChange:
//  a  salvage: the acceptor is known dead, so its segment is final: what it accepted in this epoch, or nothing
//  b  walk-back: from the winner's entry back to the epoch's first. Each entry's leader, if it lives, steps down and
//     reports its proposals under that ballot; if it is dead, its segment has them; if it is stopped, the walk waits.
//     The first leader that had completed its takeover knew everything before it. If none had, nothing was sent in this
//     epoch.
//
// A segment that was released (StableView::released_below) proves that all that its writer voted for is decided below a
// slot. Way a ends there. Way b goes on: of the last leader that has completed its takeover the segment is kept. Both
// wait until the slots below are decided here. docs/design/stable-storage.md says why that is enough.
#pragma once

#include "replication/agreement/one_paxos/state.h"

namespace ingot::inline replication_agreement_one_paxos {

// Not thread-safe.
class OnePaxosStateRecovery {
 public:
  explicit OnePaxosStateRecovery(OnePaxosState& state) : state_(state) {}

  // For a new takeover, or when there is none.
  void reset();
  bool begun() const { return salvaging_ || known_ || walking(); }

  // Way a.
  // REQUIRES: the acceptor is known dead.
  void salvage(Effects& effects);
  // Way b.
  void walk_back(Effects& effects);
  bool walking() const { return at_ > 0; }
  // The former leader that way b waits for, or the acceptor if the log does not keep its entry any more; meaningless if
  // not walking().
  ReplicaIncarnation waits_for() const {
    return state_.log.keeps(at_) ? state_.log.at(at_).leader : state_.now().acceptor;
  }
  bool segment_missing() const { return missing_; }
  // A dead acceptor's segment is asked for, and not read yet.
  bool awaits_segment() const { return salvaging_ && !known_; }

  void salvaged(ReplicaIncarnation name, const StableView* view, Effects& effects);
  void on_stepped_down(EndpointId from, const Message& answer, Effects& effects);

  // Everything that can have been accepted is known, and all slots below it are decided here: found() is complete.
  bool complete(Effects& effects);
  const OnePaxosState::Slots& found() const { return found_; }

  // Asks again for missing answers.
  void tick(Effects& effects);

 private:
  void ask(Effects& effects);
  void finish(Slot need, Slot proposed_end);
  bool overtaken() const;
  void read_acceptor(const StableView* view, Effects& effects);
  void read_leader(const StableView* view, Effects& effects);

  OnePaxosState& state_;
  bool salvaging_ = false;
  std::uint64_t at_ = 0;  // index of the entry whose leader is asked; 0: none
  bool known_ = false;
  bool facts_ = false;    // found_ was stored by the acceptor, hence chosen; valid if known_
  bool missing_ = false;  // a segment that is needed cannot be read
  Slot released_;         // above everything in the released segments that were asked for
  Slot need_;             // slots below it must come from peers; valid if known_
  Slot proposed_end_;     // above every proposal before this replica's entry of the log; valid if known_
  OnePaxosState::Slots found_;
  RetransmitTimer timer_;
};

// A former leader's answer: its proposals, after it has stepped down.
Message stepped_down(const OnePaxosState& state, const Message& question);

}  // namespace ingot::replication_agreement_one_paxos
