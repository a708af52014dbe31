// State that the workers of one run share: when it ends, how many requests are left, and when a write was last
// acknowledged. Thread-safe.
#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "services/ingot_load/load_options.h"

namespace ingot::load {

// In ns of CLOCK_MONOTONIC.
inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

class RunState {
 public:
  // Starts the run's clock. `stop`, which a signal handler may set, too, ends the run.
  RunState(const LoadOptions& options, const std::atomic<bool>& stop)
      : start_ns_(now_ns()),
        end_ns_(options.count > 0 ? ~std::uint64_t{0}
                                  : start_ns_ + static_cast<std::uint64_t>(options.duration.count())),
        left_(options.count > 0 ? options.count : std::numeric_limits<std::int64_t>::max()),
        stop_(stop),
        last_write_ns_(start_ns_) {}

  std::uint64_t start_ns() const { return start_ns_; }
  std::uint64_t end_ns() const { return end_ns_; }  // no request starts later; the largest number: no end
  bool over(std::uint64_t now) const { return now >= end_ns_ || stop_.load(std::memory_order_relaxed); }

  // Takes one of the requests that are left. False: the run is over, start none.
  [[nodiscard]] bool take(std::uint64_t now) {
    if (over(now)) return false;
    return left_.fetch_sub(1, std::memory_order_relaxed) > 0;
  }

  void write_acknowledged(std::uint64_t now) {
    const std::uint64_t last = last_write_ns_.exchange(now, std::memory_order_relaxed);
    note_gap(last, now);
  }

  // The longest time without an acknowledged write, the beginning and the end at `finish_ns` included.
  std::uint64_t gap_ns_max(std::uint64_t finish_ns) {
    note_gap(last_write_ns_.load(std::memory_order_relaxed), finish_ns);
    return gap_ns_max_.load(std::memory_order_relaxed);
  }

 private:
  void note_gap(std::uint64_t from, std::uint64_t to) {
    if (to <= from) return;  // another worker's time was a little later
    std::uint64_t most = gap_ns_max_.load(std::memory_order_relaxed);
    while (to - from > most && !gap_ns_max_.compare_exchange_weak(most, to - from, std::memory_order_relaxed)) {
    }
  }

  const std::uint64_t start_ns_;
  const std::uint64_t end_ns_;
  std::atomic<std::int64_t> left_;
  const std::atomic<bool>& stop_;
  std::atomic<std::uint64_t> last_write_ns_;
  std::atomic<std::uint64_t> gap_ns_max_{0};
};

}  // namespace ingot::load
