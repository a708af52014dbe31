// A leader's commands on their way to a slot: what waits for one, and what is proposed and not decided.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "absl/functional/function_ref.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/batcher.h"
#include "replication/replica/bounds.h"

namespace ingot {

// Not thread-safe; used by its replica's core only.
class Proposals {
 public:
  // REQUIRES: `agreement` outlives this.
  Proposals(Agreement& agreement, const ReplicaBounds& bounds) : agreement_(agreement), bounds_(bounds) {}

  // Follows leaderships. What a former one proposed may be decided or not: its clients ask again, here or elsewhere. A
  // replica that does not lead any more calls `turn_away` for each command that it never proposed.
  void note_leadership(absl::FunctionRef<void(const Request&)> turn_away);

  Batcher::Added add(const Request& command) { return batcher_.add(command); }

  // Proposes while the window has room and `has_room` says that the group can store more. Returns how many slots.
  int propose(absl::FunctionRef<bool()> has_room, Effects& effects);
  bool idle() const { return batcher_.empty() && window_.empty(); }
  // Commands wait though the window has room.
  bool held_up() const { return !batcher_.empty() && agreement_.can_propose(); }

  // Slots below `applied` are applied here.
  void applied(Slot applied);
  // A command was applied, by whatever replica it was proposed.
  void applied(const Request& command) { batcher_.decided(command); }

  // What is proposed may be decided or not: it is taken again if it comes again.
  void forget();
  // A snapshot was installed, which has some of what is proposed, no telling which.
  void forget_below(Slot applied);

 private:
  bool may_propose() const;

  struct Proposed {
    Slot slot;
    std::size_t bytes;
  };

  Agreement& agreement_;
  const ReplicaBounds bounds_;
  Batcher batcher_;
  std::deque<Proposed> window_;  // not applied
  std::size_t window_bytes_ = 0;
  Ballot leads_;  // the leadership that both are of; 0: this replica does not lead
  std::uint64_t next_id_ = 1;
};

}  // namespace ingot
