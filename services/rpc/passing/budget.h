// How many calls are passed on at a time, in the whole process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "services/access/caller.h"
#include "services/rpc/passing/limits.h"

namespace ingot::rpc::inline passing {

// Shared by all loops. Thread-safe.
class PassedCalls {
 public:
  // False: kPassedCallsMax calls are open at this listener. True: leave() has to follow.
  bool enter(Caller::Door door) {
    if (count(door).fetch_add(1, std::memory_order_relaxed) < kPassedCallsMax) return true;
    leave(door);
    return false;
  }
  // Beyond the bound.
  void enter_anyway(Caller::Door door) { count(door).fetch_add(1, std::memory_order_relaxed); }
  void leave(Caller::Door door) { count(door).fetch_sub(1, std::memory_order_relaxed); }

  int open() const { return counts_[0].load(std::memory_order_relaxed) + counts_[1].load(std::memory_order_relaxed); }

 private:
  std::atomic<int>& count(Caller::Door door) { return counts_[static_cast<std::size_t>(door)]; }

  std::array<std::atomic<int>, 2> counts_{};  // by door
};

}  // namespace ingot::rpc::passing
