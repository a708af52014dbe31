// How long the front end may leave the supervisor's questions unanswered before it is killed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

// Counts ticks of the supervisor and not time: while the supervisor is stopped, or the whole machine sleeps, nothing is
// counted. Each kill doubles the bound, so that a front end that is merely slow is not killed again and again. Pure.
class AnswerBound {
 public:
  // `timeout_ms` is rounded up to whole ticks of kFrontEndAskMs. REQUIRES: timeout_ms > 0.
  explicit AnswerBound(std::int64_t timeout_ms) : first_((timeout_ms - 1) / kFrontEndAskMs + 1), ticks_(first_) {}

  // A new process is asked from now on.
  void begin() { silent_ = 0; }

  void answered() { silent_ = 0; }

  // One tick, at which the front end is asked again. True: it has answered nothing for bound_ms(); the bound of the
  // next process is twice as long, at most kFrontEndTimeoutMsMax or `timeout_ms`. The first bound holds again once
  // questions have been answered within it for kFrontEndCalmMs.
  bool tick() {
    calm_ = silent_ <= first_ ? calm_ + 1 : 0;
    if (calm_ * kFrontEndAskMs >= kFrontEndCalmMs) ticks_ = first_;
    if (++silent_ <= ticks_) return false;
    ticks_ = std::max(first_, std::min(2 * ticks_, kTicksMax));
    calm_ = 0;
    return true;
  }

  std::int64_t bound_ms() const { return ticks_ * kFrontEndAskMs; }

 private:
  static constexpr std::int64_t kTicksMax = kFrontEndTimeoutMsMax / kFrontEndAskMs;

  const std::int64_t first_;  // in ticks
  std::int64_t ticks_;
  std::int64_t silent_ = 0;  // ticks since the last answer, or since begin()
  std::int64_t calm_ = 0;    // ticks in a row without a silence longer than first_
};

}  // namespace ingot::services_supervision
