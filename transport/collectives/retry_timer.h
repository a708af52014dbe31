// When to retry a send into a full channel, since a sender is not notified of room.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport/collectives/schedule_limits.h"
#include "transport/pollable.h"

namespace ingot::inline transport_collectives {

// Each round retries anyway; the timer is for loops that would sleep. Not thread-safe.
class RetryTimer {
 public:
  // Once a round. `waiting`: a message could not be sent; `worked`: the round did something.
  void plan(std::uint64_t now_ns, bool waiting, bool worked) {
    if (!waiting) {
      at_ns_ = Pollable::kNever;
      after_ns_ = kRetrySendNs;
      return;
    }
    if (worked) {
      after_ns_ = kRetrySendNs;
    } else if (at_ns_ != Pollable::kNever) {
      if (now_ns < at_ns_) return;
      after_ns_ = std::min(2 * after_ns_, kRetrySendNsMax);
    }
    at_ns_ = now_ns + after_ns_;
  }

  std::uint64_t at_ns() const { return at_ns_; }

 private:
  std::uint64_t at_ns_ = Pollable::kNever;
  std::uint64_t after_ns_ = kRetrySendNs;
};

}  // namespace ingot::transport_collectives
