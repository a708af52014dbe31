// A model of how full a stable segment is: the ring's records by length, freed in the order of the real segment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "replication/stable/layout.h"
#include "replication/stable/slot_order.h"

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
    if (used_bytes() > capacity_ - capacity_ / kCleanFreeParts) clean(fixed);
    if (!has_room(bytes)) return false;
    push_after_skip(record, bytes);
    order_.add(record.kind, record.slot);
    return true;
  }

  void roles_changed() { order_.roles_changed(); }
  void free_all(const StableFixed& fixed) { free_records(std::numeric_limits<std::size_t>::max(), fixed); }

  void clean(const StableFixed& fixed) {
    const std::size_t worth = capacity_ / kCleanParts;
    if (tail_ - cleaned_tail_ < worth) return;
    cleaned_tail_ = tail_;
    if (!order_.broken()) return;
    const std::vector<bool> obsolete = needless(fixed);
    std::size_t gain = 0;
    SlotOrder order;
    bool others = false;  // than skips
    for (std::size_t i = 0; i < obsolete.size(); ++i) {
      const Entry& entry = records_[i];
      const bool skip = entry.record.kind == StableRecordKind::kSkip;
      gain += obsolete[i] ? entry.bytes : 0;
      others = others || (obsolete[i] && !skip);
      if (!skip) order.add(entry.record.kind, entry.record.slot);
    }
    order_.found(order, others);
    if (gain < worth) return;
    ++cleanings_;
    for (const bool dropped : obsolete) {
      const Entry oldest = records_.front();
      if (!dropped && !has_room(oldest.bytes)) break;
      if (!dropped) push_after_skip(oldest.record, oldest.bytes);
      head_ += oldest.bytes;
      records_.pop_front();
    }
    cleaned_tail_ = tail_;
  }

  std::size_t cleanings() const { return cleanings_; }

 private:
  static constexpr std::size_t kFreeRecordsPerWrite = 16;  // as StableSegment
  static constexpr std::size_t kCleanParts = 16;           // likewise
  static constexpr std::size_t kCleanFreeParts = 8;        // likewise

  struct Entry {
    StableRecord record;
    std::size_t bytes;
  };

  void push_after_skip(const StableRecord& record, std::size_t bytes) {
    if (const std::size_t skipped = skipped_before(bytes); skipped > 0) {
      StableRecord skip{};
      skip.kind = StableRecordKind::kSkip;
      push(skip, skipped);
    }
    push(record, bytes);
  }

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
      if (stable_record_counts(oldest.record, fixed)) return;
      head_ += oldest.bytes;
      records_.pop_front();
    }
  }

  // Which of the records, oldest first, no reader needs.
  std::vector<bool> needless(const StableFixed& fixed) const {
    std::vector<bool> needless(records_.size(), true);
    absl::flat_hash_map<StableRecordKey, std::size_t> holding;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (!stable_record_counts(records_[i].record, fixed)) continue;
      std::size_t& holds = holding.try_emplace(stable_record_key(records_[i].record, fixed), i).first->second;
      if (records_[i].record.epoch >= records_[holds].record.epoch) holds = i;
    }
    for (const auto& [key, index] : holding) needless[index] = false;
    return needless;
  }

  const std::size_t capacity_;
  std::size_t cleaned_tail_ = 0;
  std::size_t cleanings_ = 0;
  SlotOrder order_;            // of the records
  std::deque<Entry> records_;  // oldest first
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace ingot
