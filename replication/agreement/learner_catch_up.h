// How a learner that missed messages gets them from its peers, and how it helps theirs.
#pragma once

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/mailbox.h"

namespace ingot {

// One Fetch at a time. It starts with the peer that showed the gap, goes on with that one while it gives, and turns to
// the next when it has nothing or stays silent for kFetchTicks. When a whole round of the peers brought nothing and what is
// needed is known to be trimmed, by one of them or by somebody who is dead now, a snapshot is. Decided entries are facts,
// whoever tells them in whichever epoch.
// Not thread-safe.
class CatchUp {
 public:
  using Learn = absl::FunctionRef<void(Slot, const Learner::Command&)>;

  // REQUIRES: both outlive this.
  CatchUp(const GroupConfig& group, const Learner& learner, Mailbox& mailbox);

  // Something was heard from `peer`: fetches from it, if that showed a gap.
  void step(EndpointId peer, Effects& effects) {
    if (!learner_.has_gap()) {
      asked_ = false;
    } else if (!asked_) {
      ask(peer, effects);
    }
  }

  // Slots below it are decided and trimmed where they had been voted for; whoever applied them may be dead.
  void note_trimmed(Slot below) { trimmed_below_ = std::max(trimmed_below_, below); }
  Slot trimmed_below() const { return trimmed_below_; }
  bool lacks_trimmed() const { return learner_.decided() < trimmed_below_; }

  void answer_fetch(EndpointId from, const Message& fetch, Effects& effects);

  // Hands every entry to `learn`, which must pass it to the learner, and goes on as the answer suggests.
  void receive_fetched(EndpointId from, const Message& fetched, Learn learn, Effects& effects);

  // Tells `peer` how much is decided, so that it notices what it missed.
  void send_commit_hint(EndpointId peer, Effects& effects);

  // What was decided before is known now, with a snapshot. Nothing that peers said before tells what they have of the rest.
  void installed();

  void tick(Effects& effects);
  bool wants_tick() const { return learner_.has_gap(); }

 private:
  void ask(EndpointId peer, Effects& effects);
  void fruitless(Effects& effects);
  EndpointId next_peer() const;

  EndpointId self_;
  int replicas_;
  const Learner& learner_;
  Mailbox& mailbox_;
  bool asked_ = false;  // a Fetch is under way to peer_, or the next one waits for a tick
  bool waits_ = false;  // valid if asked_: the latter
  EndpointId peer_;
  int silent_ticks_ = 0;
  int fruitless_ = 0;     // answers without an entry, and silences, since the last progress
  Slot trimmed_below_;
  bool trimmed_ = false;  // one of those said that it has trimmed what is needed
};

}  // namespace ingot
