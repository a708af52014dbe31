// How fast something may go on: so many at once, then one after each interval.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ingot::rpc::inline passing {

// After a pause of `burst` intervals, `burst` may be taken at once. Times are of one clock, in nanoseconds. Not
// thread-safe.
class Pace {
 public:
  Pace(std::uint64_t interval_ns, std::uint64_t burst) : interval_ns_(interval_ns), ahead_ns_((burst - 1) * interval_ns) {}

  bool may(std::uint64_t now_ns) const { return ready_ns() <= now_ns; }
  // REQUIRES: may(now_ns).
  void take(std::uint64_t now_ns) { next_ns_ = std::max(next_ns_, now_ns) + interval_ns_; }
  // From when on one may be taken.
  std::uint64_t ready_ns() const { return next_ns_ - std::min(next_ns_, ahead_ns_); }

 private:
  const std::uint64_t interval_ns_;
  const std::uint64_t ahead_ns_;
  std::uint64_t next_ns_ = 0;  // when the next one would be due without a burst
};

}  // namespace ingot::rpc::passing
