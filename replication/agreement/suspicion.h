// When silence becomes suspicious, in ticks. Adaptive, with a back-off against oscillation. Pure. A wrong suspicion
// costs a change of roles, never a wrong answer.
#pragma once

#include <algorithm>

#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement {

// Watches one role, whichever replica has it. The clock runs only while an answer is awaited: a replica that needs
// nothing from another never suspects it. Not thread-safe.
class Suspicion {
 public:
  enum class Verdict { kNone, kAskAgain, kSuspicious };

  explicit Suspicion(int ticks_min) : ticks_min_(ticks_min) {}

  // An answer is awaited. No effect if one is already.
  void expect() { waiting_ = true; }
  bool waiting() const { return waiting_; }

  // A sign of life. A slow answer lengthens the silence that is suspicious; many answers in a row take back what
  // count_timeout() added.
  void answered() {
    if (!waiting_) return;
    slowest_ticks_ = std::max(ticks_, slowest_ticks_ - slowest_ticks_ / 8);
    if (++calm_ >= kCalmAnswers) {
      calm_ = 0;
      timeouts_ = std::max(0, timeouts_ - 1);
    }
    stop();
  }

  // The role has moved to another replica, or no answer is awaited any more.
  void stop() {
    waiting_ = false;
    ticks_ = 0;
  }

  // The role moved though no replica died: the next suspicion comes later.
  void count_timeout() {
    timeouts_ = std::min(timeouts_ + 1, kTimeoutsMax);
    calm_ = 0;
  }

  // Once a tick. `later_ticks`: extra ticks, so that replicas that suspect at the same time act one after the other.
  // After a suspicion the clock starts again.
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
  int slowest_ticks_ = 0;  // of the recent answers
  int timeouts_ = 0;
  int calm_ = 0;  // answers since the last timeout
};

}  // namespace ingot::replication_agreement
