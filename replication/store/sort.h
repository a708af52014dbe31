// The order of a sorted range.
#pragma once

#include <cstdint>

#include "replication/store/api.h"

namespace ingot::kv {

// Whether the results are in the order of their keys.
inline bool in_key_order(const RangeRequest& request) {
  return request.sort_target == SortTarget::kKey && request.sort_order != SortOrder::kDescend;
}

inline bool filtered(const RangeRequest& request) {
  return request.min_mod_revision != 0 || request.max_mod_revision != 0 || request.min_create_revision != 0 ||
         request.max_create_revision != 0;
}

// How many results the limit takes by key, before they are sorted; 0: all. As in etcd: without a sort order, and without
// filters, one more than the limit, which shows that there are more. If they are sorted nonetheless, by a target, the
// last of them in that order is the one that is left out.
inline std::int64_t taken_by_key(const RangeRequest& request) {
  if (request.limit <= 0) return 0;
  if (in_key_order(request)) return request.limit;
  return request.sort_order == SortOrder::kNone && !filtered(request) ? request.limit + 1 : 0;
}

// A three-way comparison of two results (KeyValue or KeyValueView) by the target of a sort.
template <typename Entry>
int compare_by(SortTarget target, const Entry& a, const Entry& b) {
  const auto three_way = [](std::int64_t x, std::int64_t y) { return x < y ? -1 : x > y ? 1 : 0; };
  switch (target) {
    case SortTarget::kVersion:
      return three_way(a.version, b.version);
    case SortTarget::kCreate:
      return three_way(a.create_revision, b.create_revision);
    case SortTarget::kMod:
      return three_way(a.mod_revision, b.mod_revision);
    case SortTarget::kValue:
      return a.value.compare(b.value);
    case SortTarget::kKey:
      break;
  }
  return a.key.compare(b.key);
}

}  // namespace ingot::kv
