// A leader's commands on their way to a slot: those that wait for one, and those that are proposed and not decided.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "absl/functional/function_ref.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/batcher.h"
#include "replication/replica/bounds.h"

namespace ingot::inline replication_replica {

// Not thread-safe; used by its replica's core only.
class Proposals {
 public:
  // REQUIRES: `agreement` outlives this.
  Proposals(Agreement& agreement, const ReplicaBounds& bounds)
      : agreement_(agreement), bounds_(bounds), batcher_(bounds.batch_bytes) {}

  // Follows changes of the leadership. Proposals of a former leadership may be decided or not: their clients ask again,
  // here or elsewhere. A replica that no longer leads calls `turn_away` for each command that it never proposed.
  void note_leadership(absl::FunctionRef<void(const Request&)> turn_away);

  Batcher::Added add(const Request& command) { return batcher_.add(command); }

  // Proposes while the window has room and `has_room` says that the group can store more. Returns how many slots.
  int propose(absl::FunctionRef<bool()> has_room, Effects& effects);
  bool idle() const { return batcher_.empty() && window_.empty(); }
  // Commands wait though the window has room.
  bool held_up() const { return !batcher_.empty() && agreement_.can_propose(); }

  // Slots below `applied` are applied here.
  void applied(Slot applied);
  // A command was applied; any replica may have proposed it.
  void applied(const Request& command) { batcher_.decided(command); }

  // It is unknown whether the proposed commands get decided: they are accepted again when clients repeat them.
  void forget();
  // A snapshot was installed, which holds some of the proposed commands; which ones is unknown.
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
  Ballot leads_;  // the leadership that batcher_ and window_ belong to; 0: this replica does not lead
  std::uint64_t next_id_ = 1;
};

}  // namespace ingot::replication_replica
