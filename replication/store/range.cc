#include "replication/store/range.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "replication/store/limits.h"
#include "replication/store/sort.h"

namespace ingot::kv {
namespace {

bool passes(const RangeRequest& r, const Version& v) {
  return (r.max_mod_revision == 0 || v.mod_revision <= r.max_mod_revision) &&
         (r.min_mod_revision == 0 || v.mod_revision >= r.min_mod_revision) &&
         (r.max_create_revision == 0 || v.create_revision <= r.max_create_revision) &&
         (r.min_create_revision == 0 || v.create_revision >= r.min_create_revision);
}

constexpr auto kAll = std::numeric_limits<std::size_t>::max();

// How many are taken by key: a page's share of them.
std::size_t taken_max(const RangeRequest& request) {
  const std::int64_t by_key = taken_by_key(request);
  return by_key > 0 ? static_cast<std::size_t>(std::max(by_key - request.taken, std::int64_t{0})) : kAll;
}

// What is taken by key is counted by `taken`, so a page of it is not cut; what is in key order is cut by being taken.
std::size_t kept_max(const RangeRequest& request) {
  const bool page_by_key = request.step_entries != 0 && taken_by_key(request) > 0;
  const bool all = request.limit <= 0 || page_by_key || in_key_order(request);
  return all ? kAll : static_cast<std::size_t>(request.limit);
}

}  // namespace

Code check_revision(const ReadPoint& point, Revision requested) {
  if (requested > point.current) return Code::kFutureRevision;
  if (point.meant_by(requested) < point.compacted) return Code::kCompacted;
  return Code::kOk;
}

RangeAnswer::RangeAnswer(const RangeRequest& request, const ReadPoint& point)
    : request_(request),
      revision_(point.meant_by(request.revision)),
      sorted_(!in_key_order(request)),
      taken_max_(taken_max(request)),
      kept_max_(kept_max(request)),
      walk_(request.key, request.range_end) {}

RangeAnswer::RangeAnswer(const History& history, const RangeRequest& request, const ReadPoint& point)
    : RangeAnswer(request, point) {
  StepBudget steps;
  find(history, steps);
}

bool RangeAnswer::find(const History& history, StepBudget& steps) {
  if (!collected_) {
    if (!collect(history, steps)) return false;
    collected_ = true;
    heap_ = sorted_ && bytes_ <= kResultBytesMax ? found_.size() : 0;
  }
  return sort(steps);
}

bool RangeAnswer::collect(const History& history, StepBudget& steps) {
  const auto each = [&](const KeyRecord& record, const Version& version) {
    steps.take(compare_steps(version));
    return keep(record, version);
  };
  if (request_.step_entries == 0) return walk_.go_on(history, revision_, steps, each);
  head_.next_key = history.visit(KeyRange(request_.key, request_.range_end), revision_, each,
                                 StepBudget(request_.step_entries));
  return true;
}

// The count covers the whole range, or page, whatever the limit and the filters. False: nothing more is looked at, as the
// page is full, or what is kept will not fit into an answer: its bytes only grow, or else the number of its keys.
bool RangeAnswer::keep(const KeyRecord& record, const Version& version) {
  ++head_.count;
  if (request_.count_only || !passes(request_, version)) return true;
  if (taken_ >= taken_max_) {
    head_.more = true;
    return true;
  }
  ++taken_;
  const auto last_first = [this](const Found& a, const Found& b) { return comes_before(a, b); };
  found_.push_back({&record, &version});
  bytes_ += encoded_size(view(found_.back()));
  if (sorted_) std::push_heap(found_.begin(), found_.end(), last_first);
  if (found_.size() > kept_max_) {
    std::pop_heap(found_.begin(), found_.end(), last_first);
    bytes_ -= encoded_size(view(found_.back()));
    found_.pop_back();
    head_.more = true;
  }
  if (request_.step_entries != 0) return bytes_ < kPageBytesMax;
  const bool only_grows = !sorted_ || kept_max_ == kAll;
  return only_grows ? bytes_ <= kResultBytesMax : found_.size() <= kResultBytesMax / kKeyValueHeaderBytes;
}

// Puts the last of the heap behind the others, again and again.
bool RangeAnswer::sort(StepBudget& steps) {
  const auto last_first = [this](const Found& a, const Found& b) { return comes_before(a, b); };
  for (; heap_ > 1; --heap_) {
    if (steps.spent()) return false;
    steps.take(1 + compare_steps(*found_.front().version));
    std::pop_heap(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(heap_), last_first);
  }
  return true;
}

// By values each level of the heap compares as many bytes as the value has, at most.
std::int64_t RangeAnswer::compare_steps(const Version& version) const {
  if (!sorted_ || request_.sort_target != SortTarget::kValue) return 0;
  return std::bit_width(found_.size()) * static_cast<std::int64_t>(version.value().size()) / kStepBytes;
}

// Equal ones are in the order of their keys.
bool RangeAnswer::comes_before(const Found& a, const Found& b) const {
  const KeyValueView left = view_of(*a.record, *a.version), right = view_of(*b.record, *b.version);
  const int order = compare_by(request_.sort_target, left, right);
  if (order != 0) return (order < 0) != (request_.sort_order == SortOrder::kDescend);
  return left.key < right.key;
}

KeyValueView RangeAnswer::view(const Found& found) const {
  KeyValueView kv = view_of(*found.record, *found.version);
  if (request_.keys_only) kv.value = {};
  return kv;
}

void RangeAnswer::write(WireWriter& out, Revision header_revision) const {
  RangeResult head = head_;
  head.revision = header_revision;
  write_range_head(out, head, found_.size());
  for (const Found& found : found_) write_key_value(out, view(found));
}

RangeResult RangeAnswer::copy(Revision header_revision) const {
  RangeResult result = head_;
  result.revision = header_revision;
  result.kvs.reserve(found_.size());
  for (const Found& found : found_) result.kvs.push_back(to_key_value(view(found)));
  return result;
}

}  // namespace ingot::kv
