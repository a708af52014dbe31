// Roots that are held, and when what was retired is old enough: both in private memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "replication/view/heap/limits.h"

namespace ingot::inline replication_view_heap {

using PinId = std::uint64_t;  // counted from 1, never used twice by a process

// A pin holds all that the root of a batch reaches. Not thread-safe.
class Pins {
 public:
  // Holds the root of that batch. At kPinsMax pins the oldest one is broken.
  PinId add(std::uint64_t batch) {
    if (count_ == kPinsMax) break_oldest();
    pins_[count_++] = {++last_id_, batch};
    return last_id_;
  }

  void release(PinId id) {
    const auto is_it = [id](const Pin& pin) { return pin.id == id; };
    const auto end = std::remove_if(pins_.begin(), pins_.begin() + count_, is_it);
    count_ = static_cast<std::size_t>(end - pins_.begin());
  }

  // False: released or broken. Its holder asks before each step.
  bool holds(PinId id) const {
    return std::any_of(pins_.begin(), pins_.begin() + count_, [id](const Pin& pin) { return pin.id == id; });
  }

  void break_oldest() {
    if (count_ > 0) release(pins_.front().id);
  }

  // Nothing that a later batch retired may be reclaimed.
  std::uint64_t lowest() const {
    std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < count_; ++i) lowest = std::min(lowest, pins_[i].batch);
    return lowest;
  }

  std::size_t size() const { return count_; }

 private:
  struct Pin {
    PinId id;
    std::uint64_t batch;
  };
  std::array<Pin, kPinsMax> pins_{};  // in the order of their ids
  std::size_t count_ = 0;
  PinId last_id_ = 0;
};

// When batches were published, to the millisecond. Times never go back. Not thread-safe.
class BatchAges {
 public:
  void published(std::uint64_t batch, std::uint64_t now_ms) {
    if (count_ > 0 && samples_[(first_ + count_ - 1) % kSamples].ms == now_ms) --count_;
    if (count_ == kSamples) first_ = (first_ + 1) % kSamples, --count_;
    samples_[(first_ + count_++) % kSamples] = {batch, now_ms};
  }

  // The last batch that was published at least `age_ms` ago, as far as is known; 0: none.
  std::uint64_t older_than(std::uint64_t age_ms, std::uint64_t now_ms) {
    for (; count_ > 0 && samples_[first_].ms + age_ms <= now_ms; --count_) {
      old_ = samples_[first_].batch;
      first_ = (first_ + 1) % kSamples;
    }
    return old_;
  }

 private:
  static constexpr std::size_t kSamples = 64;
  static_assert(kSamples > 2 * kRetiredMs, "one for each millisecond, so none is dropped too soon");
  struct Sample {
    std::uint64_t batch;
    std::uint64_t ms;
  };
  std::array<Sample, kSamples> samples_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::uint64_t old_ = 0;
};

}  // namespace ingot::replication_view_heap
