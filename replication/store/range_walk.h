// A walk over the keys of a range that may rest between two of them.
#pragma once

#include <string>
#include <string_view>

#include "replication/store/history.h"
#include "replication/store/state_machine.h"

namespace ingot::kv {

// Goes on at a key, so the history may change while it rests. Not thread-safe.
class RangeWalk {
 public:
  // As for KeyRange. The views must outlive it.
  RangeWalk(std::string_view key, std::string_view range_end) : from_(key), end_(range_end) {}
  RangeWalk(const RangeWalk&) = delete;
  RangeWalk& operator=(const RangeWalk&) = delete;

  // Visits on as History::visit. True: it is over, at the range's end or since `visit` has returned false; false: the
  // steps are spent.
  template <typename Visit>
  bool go_on(const History& history, Revision revision, StepBudget& steps, Visit&& visit) {
    bool ended = false;
    const auto each = [&](const KeyRecord& record, const Version& version) {
      ended = !visit(record, version);
      return !ended;
    };
    const std::string_view next = history.visit_some(KeyRange(from_, end_), revision, steps, each);
    if (ended || next.empty()) return true;
    rests_at_ = std::string(next);
    from_ = rests_at_;
    return false;
  }

 private:
  std::string_view from_;
  const std::string_view end_;
  std::string rests_at_;
};

}  // namespace ingot::kv
