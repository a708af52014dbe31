// When the calls of one listener may wish for another snapshot.
#pragma once

#include <algorithm>
#include <chrono>

#include "services/backup/limits.h"

namespace ingot::inline services_backup {

// Not thread-safe.
class WishPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Whether a call may wish now; then end() has to follow.
  bool take(Time now) {
    if (wished_ || now < next_) return false;
    wished_ = true;
    begun_ = now;
    return true;
  }

  // The wish's snapshot is there, or nobody waits for it any more.
  void end(Time now) {
    using std::chrono::milliseconds;
    const Time::duration wanted = (now - begun_) * kBackupIntervalFactor;
    const auto pause = std::clamp<Time::duration>(wanted, milliseconds(kBackupIntervalMs),
                                                  milliseconds(kBackupIntervalMsMax));
    wished_ = false;
    next_ = begun_ + pause;
  }

 private:
  bool wished_ = false;
  Time begun_;
  Time next_;
};

}  // namespace ingot::services_backup
