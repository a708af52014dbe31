// How a loop waits that shares its core with many others.
#pragma once

#include <algorithm>

#include "transport/host/event_loop.h"

namespace ingot {

// So many loops on a core may offer it to each other as often as WaitOptions::shared_core() says (docs/design/waiting.md measured
// two). Of more, each offers it less often: else what reaches them one after the other finds the core taken by all those
// that it has not reached yet (docs/design/trees.md).
inline constexpr int kYieldingLoops = 3;

// REQUIRES: loops >= 1, all on one core.
inline WaitOptions shared_core_wait(int loops) {
  WaitOptions wait = WaitOptions::shared_core();
  wait.yields = std::clamp(wait.yields * kYieldingLoops / loops, 1, wait.yields);
  return wait;
}

}  // namespace ingot
