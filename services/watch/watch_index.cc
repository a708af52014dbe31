#include "services/watch/watch_index.h"

#include <algorithm>

namespace ingot::watch {
namespace {

bool ends_after(const Group& group, std::string_view key) {
  return group.range_end == kNoEnd || group.range_end > key;
}

bool ends_before(const Group& a, const Group& b) {
  if (a.range_end == kNoEnd || b.range_end == kNoEnd) return a.range_end != kNoEnd;
  return a.range_end < b.range_end;
}

bool begins_before(const Group* a, const Group* b) { return a->key < b->key; }

}  // namespace

Group& WatchIndex::join(const std::string& key, const std::string& range_end) {
  std::unique_ptr<Group>& place =
      range_end.empty() ? keys_[key] : ranges_[Range(key, range_end)];
  if (place == nullptr) {
    place = std::make_unique<Group>();
    place->key = key;
    place->range_end = range_end;
    if (!range_end.empty()) recent_.push_back(place.get());
    // As many as a search may look at one by one beside its descent.
    if (recent_.size() > 64 && recent_.size() * recent_.size() > sorted_.size()) merge_recent();
  }
  if (place->watches++ == 0 && place->sorted) --empty_sorted_;
  return *place;
}

void WatchIndex::leave(Group& group) {
  if (--group.watches > 0) return;
  if (group.range_end.empty()) {
    keys_.erase(group.key);
    return;
  }
  if (group.sorted) {
    if (2 * ++empty_sorted_ > sorted_.size()) merge_recent();  // until then it stays
    return;
  }
  std::erase(recent_, &group);
  ranges_.erase(Range(group.key, group.range_end));
}

void WatchIndex::each_group_of(const std::string& key, absl::FunctionRef<void(Group&)> found) {
  if (const auto single = keys_.find(key); single != keys_.end()) found(*single->second);
  for (Group* group : recent_) {
    if (group->key <= key && ends_after(*group, key)) found(*group);
  }
  const auto upper = std::upper_bound(sorted_.begin(), sorted_.end(), key,
                                      [](std::string_view k, const Group* group) { return k < group->key; });
  if (upper != sorted_.begin()) {
    each_sorted(0, 0, sorted_.size(), static_cast<std::size_t>(upper - sorted_.begin()), key, found);
  }
}

// Those of [begin, end) whose place is below `upper`; `node` is this part's place in greatest_.
void WatchIndex::each_sorted(std::size_t node, std::size_t begin, std::size_t end, std::size_t upper,
                             std::string_view key, absl::FunctionRef<void(Group&)> found) {
  if (begin >= upper || !ends_after(*sorted_[greatest_[node]], key)) return;
  if (end - begin == 1) return found(*sorted_[begin]);
  const std::size_t middle = begin + (end - begin) / 2;
  each_sorted(2 * node + 1, begin, middle, upper, key, found);
  each_sorted(2 * node + 2, middle, end, upper, key, found);
}

void WatchIndex::merge_recent() {
  std::erase_if(sorted_, [this](Group* group) {
    if (group->watches > 0) return false;
    ranges_.erase(Range(group->key, group->range_end));
    return true;
  });
  empty_sorted_ = 0;
  const auto middle = static_cast<std::ptrdiff_t>(sorted_.size());
  std::sort(recent_.begin(), recent_.end(), begins_before);
  for (Group* group : recent_) group->sorted = true;
  sorted_.insert(sorted_.end(), recent_.begin(), recent_.end());
  recent_.clear();
  std::inplace_merge(sorted_.begin(), sorted_.begin() + middle, sorted_.end(), begins_before);
  greatest_.assign(4 * sorted_.size(), 0);
  if (!sorted_.empty()) fill(0, 0, sorted_.size());
}

std::size_t WatchIndex::fill(std::size_t node, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return greatest_[node] = begin;
  const std::size_t middle = begin + (end - begin) / 2;
  const std::size_t left = fill(2 * node + 1, begin, middle), right = fill(2 * node + 2, middle, end);
  return greatest_[node] = ends_before(*sorted_[left], *sorted_[right]) ? right : left;
}

}  // namespace ingot::watch
