// The times at which an open loop's requests are due. A plain value.
#pragma once

#include <cstdint>

namespace ingot::load {

// The first request is due `offset_ns` after `start_ns`, the others one each `period_ns` later. Each time is computed
// anew, so that rounding does not add up.
class Schedule {
 public:
  Schedule(std::uint64_t start_ns, double offset_ns, double period_ns)
      : start_ns_(start_ns), offset_ns_(offset_ns), period_ns_(period_ns) {}

  // When the next request is due.
  std::uint64_t due_ns() const {
    return start_ns_ + static_cast<std::uint64_t>(offset_ns_ + period_ns_ * static_cast<double>(taken_));
  }
  void take() { ++taken_; }

  // Takes all that are due before that time, and returns how many they were.
  std::uint64_t take_before(std::uint64_t end_ns) {
    std::uint64_t count = 0;
    for (; due_ns() < end_ns; ++count) take();
    return count;
  }

 private:
  std::uint64_t start_ns_;
  double offset_ns_;
  double period_ns_;
  std::uint64_t taken_ = 0;
};

}  // namespace ingot::load
