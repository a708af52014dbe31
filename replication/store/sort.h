// The order of a sorted range.
#pragma once

#include "replication/store/api.h"

namespace ingot::kv {

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
