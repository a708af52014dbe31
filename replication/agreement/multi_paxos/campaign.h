// Multi-Paxos: when a voter stands for leader, so that seldom two do at once, and never two for ever.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/prng.h"
#include "core/types.h"
#include "replication/agreement/multi_paxos/limits.h"

namespace ingot {

// Voters stand in the order of their rank behind the leader that is gone. Who is beaten by a rival waits for it to
// lead, for a time drawn from its own id and the rival's ballot, and longer each time: two rivals drift apart. The same
// inputs give the same times. Not thread-safe.
class MultiPaxosCampaign {
 public:
  explicit MultiPaxosCampaign(EndpointId self) : self_(self) {}

  // Nobody leads. `rank`: how many others should be given the time to stand before this one.
  void leader_gone(int rank) {
    if (wait_ticks_ == kNever) wait_ticks_ = rank * kCandidateStaggerTicks;
  }

  // A rival's ballot is the higher one.
  void beaten(Ballot rival) {
    Prng draw(rival.value() << 16 | self_.value());
    const int doublings = std::min(defeats_++, kCandidateBackOffDoublings);
    const auto most = static_cast<std::uint64_t>(kCandidateBackOffTicks) << doublings;
    wait_ticks_ = kCandidateStaggerTicks + static_cast<int>(draw.below(most));
  }

  // Somebody leads.
  void leader_alive() {
    wait_ticks_ = kNever;
    defeats_ = 0;
  }

  void tick() {
    if (wait_ticks_ > 0) --wait_ticks_;
  }
  bool wants_tick() const { return wait_ticks_ > 0; }

  // True, once: it is time to stand.
  [[nodiscard]] bool due() {
    if (wait_ticks_ != 0) return false;
    wait_ticks_ = kNever;
    return true;
  }

 private:
  static constexpr int kNever = -1;

  EndpointId self_;
  int wait_ticks_ = kNever;
  int defeats_ = 0;  // since somebody was heard to lead
};

}  // namespace ingot
