// The time between the end of a process and its restart.
#pragma once

#include <algorithm>
#include <cstdint>

#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

// The restart delay of one endpoint. Pure.
class RestartDelay {
 public:
  // The delay in ms from the end of an incarnation that lived `lived_ms` to the start of the next.
  int next_ms(std::int64_t lived_ms) {
    if (lived_ms >= kRestartForgetMs) next_ms_ = 0;
    const int delay_ms = next_ms_;
    next_ms_ = delay_ms == 0 ? kRestartDelayFirstMs : std::min(2 * delay_ms, kRestartDelayMaxMs);
    return delay_ms;
  }

 private:
  int next_ms_ = 0;
};

}  // namespace ingot::services_supervision
