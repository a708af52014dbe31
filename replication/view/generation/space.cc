#include "replication/view/generation/space.h"

#include <algorithm>
#include <iterator>

#include "core/check.h"

namespace ingot::inline replication_view_generation {

Space::Space(NodeRef first, std::uint64_t end)
    : units_(end - first), run_at_(first), run_end_(end), high_water_(first) {}

NodeRef Space::allocate(std::uint64_t units) {
  const NodeRef at = try_allocate(units);
  if (at == 0) exhausted_ = true;
  return at;
}

NodeRef Space::try_allocate(std::uint64_t units) {
  INGOT_CHECK(units > 0);
  NodeRef at = 0;
  if (units < kSmallUnits && !small_[units].empty()) {
    at = small_[units].back();
    small_[units].pop_back();
  } else {
    at = carve(units);
    if (at == 0) {
      join_small();
      at = carve(units);
    }
  }
  if (at == 0) return 0;
  allocated_ += units;
  high_water_ = std::max(high_water_, at + units);
  return at;
}

void Space::free(NodeRef at, std::uint64_t units) {
  INGOT_CHECK(at > 0 && units > 0 && units <= allocated_);
  allocated_ -= units;
  if (units < kSmallUnits) {
    small_[units].push_back(at);
  } else {
    add_span(at, units);
  }
}

// Large blocks take the span that fits best, before memory that was never used. Small ones take the run, whose
// successor is the largest span.
NodeRef Space::carve(std::uint64_t units) {
  if (units >= kSmallUnits) {
    if (const NodeRef at = take_best(units)) return at;
    return take_from_run(units);
  }
  if (const NodeRef at = take_from_run(units)) return at;
  if (spans_by_units_.empty() || spans_by_units_.rbegin()->first < units) return 0;
  const auto [largest, begin] = *spans_by_units_.rbegin();
  remove_span(spans_.find(begin));
  if (run_at_ < run_end_) add_span(run_at_, run_end_ - run_at_);
  run_at_ = begin;
  run_end_ = begin + largest;
  return take_from_run(units);
}

NodeRef Space::take_best(std::uint64_t units) {
  const auto best = spans_by_units_.lower_bound({units, 0});
  if (best == spans_by_units_.end()) return 0;
  const auto [found, begin] = *best;
  remove_span(spans_.find(begin));
  if (found > units) add_span(begin + units, found - units);
  return static_cast<NodeRef>(begin);
}

NodeRef Space::take_from_run(std::uint64_t units) {
  if (run_end_ - run_at_ < units) return 0;
  const auto at = static_cast<NodeRef>(run_at_);
  run_at_ += units;
  return at;
}

void Space::add_span(std::uint64_t at, std::uint64_t units) {
  auto next = spans_.lower_bound(at);
  if (next != spans_.begin()) {
    const auto before = std::prev(next);
    INGOT_CHECK(before->first + before->second <= at, "a block is freed once");
    if (before->first + before->second == at) {
      at = before->first;
      units += before->second;
      remove_span(before);
    }
  }
  next = spans_.lower_bound(at);
  if (next != spans_.end() && next->first == at + units) {
    units += next->second;
    remove_span(next);
  }
  spans_.emplace(at, units);
  spans_by_units_.emplace(units, at);
}

void Space::remove_span(std::map<std::uint64_t, std::uint64_t>::iterator span) {
  spans_by_units_.erase({span->second, span->first});
  spans_.erase(span);
}

void Space::join_small() {
  for (std::uint64_t units = 1; units < kSmallUnits; ++units) {
    for (const NodeRef at : small_[units]) add_span(at, units);
    small_[units].clear();
  }
}

}  // namespace ingot::replication_view_generation
