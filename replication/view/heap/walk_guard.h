// Walks over what memory leads to, which must end even if it leads back.
#pragma once

#include <cstdint>
#include <limits>

namespace ingot::inline replication_view_heap {

// Finds a walk that comes again to where it was, as only damage makes it do: after three times as many steps as it takes
// to come there for the first time, at the latest (Brent's method). For memory that does not change meanwhile.
class WalkGuard {
 public:
  // To be asked at each step, with the place that it leads to.
  bool leads_back(std::uint64_t place) {
    if (place == seen_) return true;
    if (++steps_ == next_) {
      seen_ = place;
      next_ *= 2;
    }
    return false;
  }

 private:
  std::uint64_t seen_ = std::numeric_limits<std::uint64_t>::max();  // no place
  std::uint64_t steps_ = 0;
  std::uint64_t next_ = 1;  // the step whose place is remembered
};

}  // namespace ingot::replication_view_heap
