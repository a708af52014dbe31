// How a learner notices that it missed decided commands, and fetches them from its peers.
#pragma once

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/mailbox.h"

namespace ingot::inline replication_agreement {

// One Fetch at a time. It starts with the peer that showed the gap, stays with that peer while it returns entries, and
// turns to the next when a peer has none or is silent for kFetchTicks. A snapshot is needed when a whole round of the
// peers brought nothing and the missing slots are known to be trimmed, by a peer or by a dead replica. Decided entries
// are final, so any peer's answer counts, in whichever epoch. Not thread-safe.
class CatchUp {
 public:
  using Learn = absl::FunctionRef<void(Slot, const Learner::Command&)>;

  // REQUIRES: both outlive this.
  CatchUp(const GroupConfig& group, const Learner& learner, Mailbox& mailbox);

  // A message came from `peer`: fetches from it, if that showed a gap.
  void step(EndpointId peer, Effects& effects) {
    if (!learner_.has_gap()) {
      asked_ = false;
    } else if (!asked_) {
      ask(peer, effects);
    }
  }

  // Slots below `below` are decided and trimmed where they had been voted for; the replicas that applied them may be
  // dead.
  void note_trimmed(Slot below) { trimmed_below_ = std::max(trimmed_below_, below); }
  Slot trimmed_below() const { return trimmed_below_; }
  bool lacks_trimmed() const { return learner_.decided() < trimmed_below_; }

  void answer_fetch(EndpointId from, const Message& fetch, Effects& effects);

  // Passes every entry to `learn`, which must pass it to the learner; then fetches on, from this peer or the next.
  void receive_fetched(EndpointId from, const Message& fetched, Learn learn, Effects& effects);

  // Tells `peer` how far slots are decided here, so that it notices a gap.
  void send_commit_hint(EndpointId peer, Effects& effects);

  // A snapshot replaced the missing slots. Earlier answers of peers do not count for the slots after it.
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
  bool asked_ = false;  // a Fetch to peer_ is outstanding, or waits for a tick
  bool waits_ = false;  // valid if asked_: it waits for a tick
  EndpointId peer_;
  int silent_ticks_ = 0;
  int fruitless_ = 0;     // empty answers and timeouts since the last progress
  Slot trimmed_below_;
  bool trimmed_ = false;  // one of these peers has trimmed the missing slots
};

}  // namespace ingot::replication_agreement
