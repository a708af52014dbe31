// How much a store may hold, and what is counted: a rule that every replica follows to the byte, so that each refuses
// the same put at the same slot. The constants cover what a version and a key take in memory beside their bytes: nodes,
// indexes and the allocator's rounding (docs/store.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ingot::kv {

inline constexpr std::int64_t kVersionCountedBytes = 128;  // of each version, beside its value
inline constexpr std::int64_t kKeyCountedBytes = 128;      // of each key that exists, and of each tombstone's
inline constexpr std::int64_t kLeaseCountedBytes = 256;
// Of each key with a lease: the tombstone that the lease's end leaves, which so never lacks room, and its entry there.
inline constexpr std::int64_t kAttachedCountedBytes = kVersionCountedBytes + 64;

inline std::int64_t counted_version(std::size_t value_bytes) {
  return kVersionCountedBytes + static_cast<std::int64_t>(value_bytes);
}

inline std::int64_t counted_key(std::size_t key_bytes) {
  return kKeyCountedBytes + static_cast<std::int64_t>(key_bytes);
}

inline std::int64_t counted_attachment(std::int64_t lease) { return lease == 0 ? 0 : kAttachedCountedBytes; }

// A tombstone is a version without a value, and keeps its key until it is compacted.
inline std::int64_t counted_tombstone(std::size_t key_bytes) { return counted_version(0) + counted_key(key_bytes); }

// Beyond the quota puts are refused. Deletes, whose end is less, have a reserve above it: a delete adds a tombstone, and
// what it deletes is history until a compaction. A plain value; thread-safe.
class Quota {
 public:
  static constexpr std::int64_t kReserveBytesMax = 64 * 1024 * 1024;
  static constexpr std::int64_t kReserveShare = 16;  // of the quota, one such part is the deletes' reserve

  // `bytes`: the quota; 0 or less: there is none.
  explicit Quota(std::int64_t bytes = 0) : bytes_(std::max<std::int64_t>(bytes, 0)) {}

  std::int64_t bytes() const { return bytes_; }  // 0: none

  // The most that may be counted after a put, and after a delete.
  std::int64_t puts_max() const { return bytes_ == 0 ? kUnbounded : bytes_; }
  std::int64_t deletes_max() const {
    const std::int64_t reserve = std::min(bytes_ / kReserveShare, kReserveBytesMax);
    return bytes_ == 0 || bytes_ > kUnbounded - reserve ? kUnbounded : bytes_ + reserve;
  }

 private:
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t bytes_;
};

}  // namespace ingot::kv
