// How a loop waits that shares its core with other loops.
#pragma once

#include <algorithm>

#include "transport/host/event_loop.h"

namespace ingot::inline services_replica_process {

// Up to this many loops on one core yield as often as WaitOptions::shared_core() sets (docs/design/waiting.md measures
// two). With more loops, each yields less often. Otherwise a message that passes from loop to loop finds the core taken
// by the yields of all loops that it has not reached yet (docs/design/waiting.md, docs/design/trees.md).
inline constexpr int kYieldingLoops = 3;

// REQUIRES: loops >= 1, all on one core.
inline WaitOptions shared_core_wait(int loops) {
  WaitOptions wait = WaitOptions::shared_core();
  wait.yields = std::clamp(wait.yields * kYieldingLoops / loops, 1, wait.yields);
  return wait;
}

}  // namespace ingot::services_replica_process
