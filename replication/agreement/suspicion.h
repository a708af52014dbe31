// When silence becomes suspicious, in ticks: adaptive, with a back-off against oscillation. Pure; a wrong suspicion costs
// a change of roles, never an answer.
#pragma once

#include <algorithm>

#include "replication/agreement/limits.h"

namespace ingot {

// Watches one role, whoever has it. The clock runs only while an answer is awaited: who wants nothing of the other never
// doubts it. Not thread-safe.
class Suspicion {
 public:
  enum class Verdict { kNone, kAskAgain, kSuspicious };

  explicit Suspicion(int ticks_min) : ticks_min_(ticks_min) {}

  // An answer is awaited. No effect if one is already.
  void expect() { waiting_ = true; }
  bool waiting() const { return waiting_; }

  // A sign of life. Slow answers make the next silence longer before it is suspicious; many answers in a row take back
  // what strike() added.
  void answered() {
    if (!waiting_) return;
    slowest_ticks_ = std::max(ticks_, slowest_ticks_ - slowest_ticks_ / 8);
    if (++calm_ >= kCalmAnswers) {
      calm_ = 0;
      timeouts_ = std::max(0, timeouts_ - 1);
    }
    stop();
  }

  // The role has gone to somebody else, or nothing is awaited any more.
  void stop() {
    waiting_ = false;
    ticks_ = 0;
  }

  // The role moved though nobody died: next time, be slower.
  void count_timeout() {
    timeouts_ = std::min(timeouts_ + 1, kTimeoutsMax);
    calm_ = 0;
  }

  // Once a tick. `later_ticks`: of others who would act at the same time, let them go first. Suspicious again after as
  // long again.
  Verdict tick(int later_ticks = 0) {
    if (!waiting_) return Verdict::kNone;
    ++ticks_;
    const int limit = timeout_ticks() + later_ticks;
    if (ticks_ >= limit) {
      ticks_ = 0;
      return Verdict::kSuspicious;
    }
    return ticks_ == (limit + 1) / 2 || ticks_ % kRetransmitTicks == 0 ? Verdict::kAskAgain : Verdict::kNone;
  }

  int timeout_ticks() const {
    const int ticks = std::min(std::max(ticks_min_, kSuspectSafety * slowest_ticks_), kSuspectTicksMax);
    return std::max(ticks_min_, std::min(ticks << timeouts_, kSuspectTicksMax));
  }

 private:
  static constexpr int kTimeoutsMax = 6;

  int ticks_min_;
  bool waiting_ = false;
  int ticks_ = 0;
  int slowest_ticks_ = 0;  // of late
  int timeouts_ = 0;
  int calm_ = 0;  // answers since the last strike
};

}  // namespace ingot
