// Counts the bytes of log above a slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/types.h"

namespace ingot::inline replication_replica_snapshots {

// Exact to a step and one command. Not thread-safe.
class LogMeter {
 public:
  static constexpr std::size_t kStepsMax = 4096;  // older steps are forgotten and no longer counted

  explicit LogMeter(std::size_t step_bytes) : step_bytes_(step_bytes) {}

  // The slots from the previous `end` up to this one have `bytes` bytes. `end` ascends.
  void add(Slot end, std::size_t bytes) {
    total_ += bytes;
    if (!steps_.empty() && total_ - steps_.back().total < step_bytes_) {
      end_ = end;
      return;
    }
    steps_.push_back({end_, total_ - bytes});
    end_ = end;
    if (steps_.size() > kStepsMax) steps_.pop_front();
  }

  // Slots below `below` are no longer counted.
  void cut(Slot below) {
    while (steps_.size() > 1 && steps_[1].begin <= below) steps_.pop_front();
    if (end_ <= below) steps_.clear();
  }

  // Bytes of the counted slots from `from` on.
  std::size_t bytes_from(Slot from) const {
    if (steps_.empty() || end_ <= from) return 0;
    auto after = std::upper_bound(steps_.begin(), steps_.end(), from,
                                  [](Slot slot, const Step& step) { return slot < step.begin; });
    if (after != steps_.begin()) --after;
    return total_ - after->total;
  }

 private:
  struct Step {
    Slot begin;           // the slots from here on
    std::uint64_t total;  // bytes below it
  };

  std::size_t step_bytes_;
  std::deque<Step> steps_;  // ascend
  Slot end_;
  std::uint64_t total_ = 0;
};

}  // namespace ingot::replication_replica_snapshots
