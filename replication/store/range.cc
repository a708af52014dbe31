#include "replication/store/range.h"

#include "replication/store/limits.h"

#include <algorithm>
#include <limits>


namespace ingot::kv {
namespace {

bool filtered(const RangeRequest& r) {
  return r.min_mod_revision != 0 || r.max_mod_revision != 0 || r.min_create_revision != 0 ||
         r.max_create_revision != 0;
}

bool passes(const RangeRequest& r, const Version& v) {
  return (r.max_mod_revision == 0 || v.mod_revision <= r.max_mod_revision) &&
         (r.min_mod_revision == 0 || v.mod_revision >= r.min_mod_revision) &&
         (r.max_create_revision == 0 || v.create_revision <= r.max_create_revision) &&
         (r.min_create_revision == 0 || v.create_revision >= r.min_create_revision);
}

// A three-way comparison of two versions by a number or value; the collected keys are in order already.
template <typename Found>
int compare_by(SortTarget target, const Found& a, const Found& b) {
  const auto three_way = [](std::int64_t x, std::int64_t y) { return x < y ? -1 : x > y ? 1 : 0; };
  switch (target) {
    case SortTarget::kVersion:
      return three_way(a.version->version, b.version->version);
    case SortTarget::kCreate:
      return three_way(a.version->create_revision, b.version->create_revision);
    case SortTarget::kMod:
      return three_way(a.version->mod_revision, b.version->mod_revision);
    case SortTarget::kValue:
      return a.version->value.compare(b.version->value);
    case SortTarget::kKey:
      break;
  }
  return a.record->key().compare(b.record->key());
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
  if (request_.count_only) return;
  filter();
  sort();
  cut();
}

// The count covers the whole range, whatever the limit. If no sorting or filter decides which results come first, one
// more result than the limit is kept, which shows whether there are more; an unsorted sort target sorts only those (as
// in etcd).
void RangeAnswer::collect(const History& history, Revision revision) {
  const bool keep_all = request_.limit <= 0 || request_.sort_order != SortOrder::kNone || filtered(request_);
  const auto keep_max = keep_all ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(request_.limit);
  history.visit(KeyRange(request_.key, request_.range_end), revision,
                [&](const KeyRecord& record, const Version& version) {
                  ++head_.count;
                  if (!request_.count_only && found_.size() <= keep_max) found_.push_back({&record, &version});
                  return true;
                });
}

void RangeAnswer::filter() {
  if (!filtered(request_)) return;
  const auto fails = [this](const Found& f) { return !passes(request_, *f.version); };
  found_.erase(std::remove_if(found_.begin(), found_.end(), fails), found_.end());
}

void RangeAnswer::sort() {
  const SortTarget target = request_.sort_target;
  const bool descend = request_.sort_order == SortOrder::kDescend;
  if (target == SortTarget::kKey && !descend) return;  // collected in key order
  std::stable_sort(found_.begin(), found_.end(), [target, descend](const Found& a, const Found& b) {
    return descend ? compare_by(target, b, a) < 0 : compare_by(target, a, b) < 0;
  });
}

// Applies the limit, then the page.
void RangeAnswer::cut() {
  std::size_t end = found_.size();
  if (request_.limit > 0 && end > static_cast<std::size_t>(request_.limit)) {
    end = static_cast<std::size_t>(request_.limit);
    head_.more = true;
  }
  first_ = std::min(end, static_cast<std::size_t>(request_.offset));
  const std::size_t bytes_max = request_.page ? kPageBytesMax : std::numeric_limits<std::size_t>::max();
  for (last_ = first_; last_ < end && bytes_ < bytes_max; ++last_) bytes_ += encoded_size(view(found_[last_]));
  if (last_ < end) head_.next_offset = static_cast<std::int64_t>(last_);
}

KeyValueView RangeAnswer::view(const Found& found) const {
  KeyValueView kv = view_of(*found.record, *found.version);
  if (request_.keys_only) kv.value = {};
  return kv;
}

void RangeAnswer::write(WireWriter& out, Revision header_revision) const {
  RangeResult head = head_;
  head.revision = header_revision;
  write_range_head(out, head, last_ - first_);
  for (std::size_t i = first_; i < last_; ++i) write_key_value(out, view(found_[i]));
}

RangeResult RangeAnswer::copy(Revision header_revision) const {
  RangeResult result = head_;
  result.revision = header_revision;
  result.kvs.reserve(last_ - first_);
  for (std::size_t i = first_; i < last_; ++i) result.kvs.push_back(to_key_value(view(found_[i])));
  return result;
}

}  // namespace ingot::kv
