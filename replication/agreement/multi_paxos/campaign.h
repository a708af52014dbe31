// Multi-Paxos: when a voter stands for leader. Keeps rivals apart, so that one of them wins.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/prng.h"
#include "core/types.h"
#include "replication/agreement/multi_paxos/limits.h"

namespace ingot::inline replication_agreement_multi_paxos {

// Voters stand in the order of their rank behind the former leader. A beaten candidate waits for its rival to lead, for
// a time drawn from its own id and the rival's ballot, and longer each time, so two rivals drift apart. The same inputs
// give the same times. Not thread-safe.
class MultiPaxosCampaign {
 public:
  explicit MultiPaxosCampaign(EndpointId self) : self_(self) {}

  // There is no leader. `rank`: how many other voters stand before this one.
  void leader_gone(int rank) {
    if (wait_ticks_ == kNever) wait_ticks_ = rank * kCandidateStaggerTicks;
  }

  // A rival has a higher ballot.
  void beaten(Ballot rival) {
    Prng draw(rival.value() << 16 | self_.value());
    const int doublings = std::min(defeats_++, kCandidateBackOffDoublings);
    const auto most = static_cast<std::uint64_t>(kCandidateBackOffTicks) << doublings;
    wait_ticks_ = kCandidateStaggerTicks + static_cast<int>(draw.below(most));
  }

  // A message has come from a leader.
  void leader_alive() {
    wait_ticks_ = kNever;
    defeats_ = 0;
  }

  void tick() {
    if (wait_ticks_ > 0) --wait_ticks_;
  }
  bool wants_tick() const { return wait_ticks_ > 0; }

  // True, once, when it is time to stand.
  [[nodiscard]] bool due() {
    if (wait_ticks_ != 0) return false;
    wait_ticks_ = kNever;
    return true;
  }

 private:
  static constexpr int kNever = -1;

  EndpointId self_;
  int wait_ticks_ = kNever;
  int defeats_ = 0;  // since the last sign of a leader
};

}  // namespace ingot::replication_agreement_multi_paxos
