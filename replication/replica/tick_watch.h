// A replica that does not lead, while the time of the state is to pass: whether ticks still come.
#pragma once

#include <cstdint>

#include "replication/replica/limits.h"
#include "replication/store/state_machine.h"
#include "transport/pollable.h"

namespace ingot::inline replication_replica {

// Leases end by ticks, which the leader proposes (replication/replica/state_clock.h). If it is silent while no client
// asks for anything, nobody else would notice. So a replica that has seen no new tick for kTickSilenceMs waits for the
// leader as a client would, and again after as long.
//
// Pure: nanoseconds are those of the replica's clock. Not thread-safe.
class TickWatch {
 public:
  // After a round that has done something.
  void note(const StateMachine::Clock& state, bool leads, std::uint64_t now_ns) {
    if (!state.runs || leads) {
      due_ns_ = Pollable::kNever;
    } else if (due_ns_ == Pollable::kNever || state.last.number != seen_) {
      seen_ = state.last.number;
      due_ns_ = now_ns + kSilenceNs;
    }
  }

  // When missed() is to be asked; Pollable::kNever: only note() can tell.
  std::uint64_t due_ns() const { return due_ns_; }

  // At the begin of a round: true: the next tick is overdue.
  bool missed(std::uint64_t now_ns) {
    if (now_ns < due_ns_) return false;
    due_ns_ = now_ns + kSilenceNs;
    return true;
  }

 private:
  static constexpr std::uint64_t kSilenceNs = kTickSilenceMs * 1'000'000;

  std::uint64_t seen_ = 0;  // the number of the state's last tick
  std::uint64_t due_ns_ = Pollable::kNever;
};

}  // namespace ingot::replication_replica
