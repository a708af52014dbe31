// Counters of a loop's watches, written by its thread and read by any.
#pragma once

#include <atomic>
#include <cstdint>

namespace ingot::watch {

struct WatchCounters {
  using Cell = std::atomic<std::uint64_t>;

  Cell streams{0};    // open
  Cell watches{0};    // that there are
  Cell behind{0};     // of these: not synced
  Cell created{0};
  Cell canceled{0};   // by the server
  Cell responses{0};  // with events
  Cell events{0};     // in responses
  Cell read{0};       // events that replicas have sent
  Cell pages{0};      // asked for by sweeps
  Cell questions{0};  // of the feed

  // The loop's thread only.
  static void add(Cell& cell, std::uint64_t number = 1) {
    cell.store(cell.load(std::memory_order_relaxed) + number, std::memory_order_relaxed);
  }
  static void set(Cell& cell, std::uint64_t value) { cell.store(value, std::memory_order_relaxed); }
};

}  // namespace ingot::watch
