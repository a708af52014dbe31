// A model of how full a stable segment is: the ring's records by length, freed in the order of the real segment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "replication/stable/layout.h"

namespace ingot {

// Not thread-safe.
class StableRingModel {
 public:
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max() / 2;

  explicit StableRingModel(std::size_t capacity_bytes) : capacity_(capacity_bytes) {}

  std::size_t capacity_bytes() const { return capacity_; }
  std::size_t used_bytes() const { return tail_ - head_; }

  // Returns false if there is no room, even after all obsolete records are freed.
  bool append(const StableRecord& record, const StableFixed& fixed) {
    free_records(kFreeRecordsPerWrite, fixed);
    const std::size_t bytes = stable_record_bytes(record.bytes);
    if (!has_room(bytes)) free_all(fixed);
    if (!has_room(bytes)) return false;
    if (const std::size_t skipped = skipped_before(bytes); skipped > 0) {
      StableRecord skip{};
      skip.kind = StableRecordKind::kSkip;
      push(skip, skipped);
    }
    push(record, bytes);
    return true;
  }

  void free_all(const StableFixed& fixed) { free_records(std::numeric_limits<std::size_t>::max(), fixed); }

 private:
  static constexpr std::size_t kFreeRecordsPerWrite = 16;  // as StableSegment

  struct Entry {
    StableRecord record;
    std::size_t bytes;
  };

  void push(const StableRecord& record, std::size_t bytes) {
    records_.push_back({record, bytes});
    tail_ += bytes;
  }

  std::size_t skipped_before(std::size_t bytes) const {
    const std::size_t to_end = capacity_ - tail_ % capacity_;
    return to_end < bytes ? to_end : 0;
  }

  bool has_room(std::size_t bytes) const { return used_bytes() + skipped_before(bytes) + bytes <= capacity_; }

  void free_records(std::size_t most, const StableFixed& fixed) {
    for (std::size_t freed = 0; !records_.empty() && freed < most; ++freed) {
      const Entry& oldest = records_.front();
      if (oldest.record.kind != StableRecordKind::kSkip && stable_record_counts(oldest.record, fixed)) return;
      head_ += oldest.bytes;
      records_.pop_front();
    }
  }

  const std::size_t capacity_;
  std::deque<Entry> records_;  // oldest first
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace ingot
