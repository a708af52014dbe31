// Whether the stop of a process is a reason for its peers to doubt it.
#pragma once

#include <chrono>
#include <optional>

#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

// The stops of one process, as the kernel reports them to its parent. A process that had been stopped shortly before
// stops in turns: each time its roles would move, for nothing. Such a one is suspected only if it is silent for long.
// Pure.
class StopHistory {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // It was stopped. True: it had run for kStutterMs before, or since its start, and so is to be doubted.
  bool stopped(Time now) {
    const bool lately = stopped_ || (last_ && now - *last_ < std::chrono::milliseconds(kStutterMs));
    stopped_ = true;
    last_ = now;
    return !lately;
  }

  // It has gone on. Without this call between two stops it has done so unseen.
  void continued(Time now) {
    stopped_ = false;
    last_ = now;
  }

  // As last reported.
  bool is_stopped() const { return stopped_; }

 private:
  bool stopped_ = false;
  std::optional<Time> last_;  // when it was last known to be stopped
};

}  // namespace ingot::services_supervision
