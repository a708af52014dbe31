// Whether a ring's records stand in the order in which they become obsolete.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replication/stable/layout.h"

namespace ingot::inline replication_stable {

// Trimming makes records obsolete in the order of their slots. While those of each kind stand in that order, the
// obsolete ones are the ring's oldest, but for the few by which the kinds run ahead of each other: to clean such a ring
// gains nothing. Not thread-safe.
class SlotOrder {
 public:
  // The next record behind those before it. Returns whether its slot is above all earlier ones of its kind.
  bool add(StableRecordKind kind, std::uint64_t slot) {
    std::uint64_t& end = ends_[static_cast<std::size_t>(kind)];
    if (slot < end) {
      broken_ = true;
      return false;
    }
    end = slot + 1;
    return true;
  }

  // Records became obsolete for another reason than their slots: a newer epoch or leadership.
  void roles_changed() { broken_ = true; }

  bool broken() const { return broken_; }

  // What a look at the whole ring has found: the order of the records that count, and whether there are obsolete ones.
  void found(const SlotOrder& counting, bool obsolete) { broken_ = obsolete || counting.broken_; }

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(StableRecordKind::kOutcome) + 1;

  std::uint64_t ends_[kKinds] = {};  // one slot above the newest of each kind
  bool broken_ = false;
};

}  // namespace ingot::replication_stable
