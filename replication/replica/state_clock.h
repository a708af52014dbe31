// When the leading replica has the time of the state pass: ticks (replication/store/tick.h) on their way to the log.
#pragma once

#include <cstdint>

#include "core/types.h"
#include "replication/replica/limits.h"
#include "replication/store/state_machine.h"
#include "transport/pollable.h"

namespace ingot::inline replication_replica {

// The session of all ticks, whichever replica proposes them.
inline constexpr std::uint64_t kClockClient = ~std::uint64_t{1};

// One tick is under way at a time. The first one of a leadership carries no time. Any other one carries what has passed
// since the time that the one before was about, at most kTickMaxMs, and counts at most kTickDecisionMaxMs of the time
// that the decision of that one took. So of the ticks that are decided after some command, the first one may be about
// kTickMaxMs before the command's decision, and all others together about kTickDecisionMaxMs; the state's leases have
// both as a grace, and never end early. Whatever stops the group, or makes decisions slow, loses time.
//
// Pure: nanoseconds are those of the replica's clock. Not thread-safe.
class StateClock {
 public:
  // After a round that has done something: whether look() is due in the next round. `leads`: the leadership of this
  // replica; 0: it does not lead. Times are taken in look() alone, since a round may take long.
  void note(const StateMachine::Clock& state, Ballot leads, std::uint64_t now_ns);

  // When look() is due; Pollable::kNever: only note() can tell.
  std::uint64_t due_ns() const { return due_ns_; }

  // At the begin of a round, with the present state. True: the tick that tick() returns is to be proposed. One that is
  // not decided for kTickMaxMs is to be proposed again, since it may be lost.
  bool look(const StateMachine::Clock& state, Ballot leads, std::uint64_t now_ns);
  const Tick& tick() const { return tick_; }

 private:
  bool stands(const StateMachine::Clock& state, Ballot leads);
  void take(bool first, std::uint64_t now_ns);

  Ballot leads_;            // 0: the clock stands here
  std::uint64_t seen_ = 0;  // the number of the state's last tick at the last look
  Tick tick_;               // the last one that was proposed
  bool under_way_ = false;  // it is not known to be decided
  std::uint64_t proposed_ns_ = 0;
  std::uint64_t from_ns_ = 0;  // what the next tick is about begins here
  std::uint64_t due_ns_ = Pollable::kNever;
};

}  // namespace ingot::replication_replica
