// How far the state has come that a process has shown to its clients.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/types.h"

namespace ingot::inline replication_client {

// Shared by the sessions of a process. Each shows what it is answered before it hands the answer on, and asks for local
// queries at least that far: so what a client of one session has seen, no client of another misses later.
//
// Thread-safe.
class ShownSlot {
 public:
  explicit ShownSlot(Slot begin = Slot()) : slot_(begin.value()) {}

  // The state of an answer has come so far: slots below it are applied.
  void show(Slot slot) {
    std::uint64_t shown = slot_.load(std::memory_order_relaxed);
    while (shown < slot.value() && !slot_.compare_exchange_weak(shown, slot.value(), std::memory_order_release,
                                                                std::memory_order_relaxed)) {
    }
  }
  Slot get() const { return Slot(slot_.load(std::memory_order_acquire)); }  // pairs with show()

 private:
  alignas(64) std::atomic<std::uint64_t> slot_;
};

}  // namespace ingot::replication_client
