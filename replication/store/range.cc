#include "replication/store/range.h"

#include <algorithm>
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

}  // namespace

Code check_revision(const ReadPoint& point, Revision requested) {
  if (requested > point.current) return Code::kFutureRevision;
  if (point.meant_by(requested) < point.compacted) return Code::kCompacted;
  return Code::kOk;
}

RangeAnswer::RangeAnswer(const History& history, const RangeRequest& request, const ReadPoint& point)
    : request_(request) {
  collect(history, point.meant_by(request.revision));
  sort();
  cut();
}

// The count covers the whole range, or page, whatever the limit and the filters.
void RangeAnswer::collect(const History& history, Revision revision) {
  constexpr auto kAll = std::numeric_limits<std::size_t>::max();
  const std::int64_t by_key = taken_by_key(request_);
  const std::int64_t left = std::max(by_key - request_.taken, std::int64_t{0});
  const std::size_t keep_max = by_key > 0 ? static_cast<std::size_t>(left) : kAll;
  const bool page = request_.step_entries != 0;
  const std::size_t bytes_max = page ? kPageBytesMax : kAll;
  const auto keep = [&](const KeyRecord& record, const Version& version) {
    ++head_.count;
    if (request_.count_only || !passes(request_, version)) return true;
    head_.more = found_.size() >= keep_max;
    if (head_.more) return true;
    found_.push_back({&record, &version});
    bytes_ += encoded_size(view(found_.back()));
    return bytes_ < bytes_max;
  };
  head_.next_key =
      history.visit(KeyRange(request_.key, request_.range_end), revision, keep, page ? request_.step_entries : kAll);
}

void RangeAnswer::sort() {
  if (in_key_order(request_)) return;  // as collected
  const SortTarget target = request_.sort_target;
  const bool descend = request_.sort_order == SortOrder::kDescend;
  std::stable_sort(found_.begin(), found_.end(), [target, descend](const Found& a, const Found& b) {
    const KeyValueView left = view_of(*a.record, *a.version), right = view_of(*b.record, *b.version);
    return descend ? compare_by(target, right, left) < 0 : compare_by(target, left, right) < 0;
  });
}

// What is taken by key is counted by `taken`, so a page of it is not cut.
void RangeAnswer::cut() {
  const auto limit = static_cast<std::size_t>(request_.limit);
  if (request_.limit <= 0 || found_.size() <= limit) return;
  if (request_.step_entries != 0 && taken_by_key(request_) > 0) return;
  for (std::size_t i = limit; i < found_.size(); ++i) bytes_ -= encoded_size(view(found_[i]));
  found_.erase(found_.begin() + request_.limit, found_.end());
  head_.more = true;
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
