#include "services/watch/cover.h"

#include <algorithm>
#include <cstddef>

#include "services/watch/limits.h"

namespace ingot::watch {
namespace {

constexpr std::string_view kNoEnd("\0", 1);

bool is_no_end(std::string_view end) { return end == kNoEnd; }

bool below(std::string_view key, std::string_view end) { return is_no_end(end) || key < end; }

std::string_view greater_end(std::string_view a, std::string_view b) {
  if (is_no_end(a) || is_no_end(b)) return kNoEnd;
  return std::max(a, b);
}

// The same or a greater one, of bounded length.
std::string bounded_end(std::string_view key, std::string_view range_end) {
  std::string end = range_end.empty() ? std::string(key) + '\0' : std::string(range_end);
  if (end.size() <= kCoverKeyBytesMax) return end;
  end.resize(kCoverKeyBytesMax);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return std::string(kNoEnd);
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

bool Cover::holds(std::string_view key, std::string_view range_end) const {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), key,
                                       [](std::string_view k, const kv::EventRange& range) { return k < range.key; });
  if (behind == ranges_.begin()) return false;
  const std::string_view end = std::prev(behind)->range_end;
  if (is_no_end(end)) return true;
  return range_end.empty() ? key < end : !is_no_end(range_end) && range_end <= end;
}

void Cover::add(std::string_view key, std::string_view range_end) {
  kv::EventRange added{std::string(key.substr(0, kCoverKeyBytesMax)), bounded_end(key, range_end)};
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), added.key,
                                [](const kv::EventRange& range, const std::string& k) { return range.key < k; });
  if (first != ranges_.begin() && below(added.key, std::prev(first)->range_end)) --first;
  auto last = first;
  while (last != ranges_.end() && below(last->key, added.range_end)) {
    added.key = std::min(added.key, last->key);
    added.range_end = greater_end(added.range_end, last->range_end);
    ++last;
  }
  ranges_.insert(ranges_.erase(first, last), std::move(added));
  if (ranges_.size() > kCoverRangesMax) join_nearest();
}

// The two neighbours with the longest common prefix become one.
void Cover::join_nearest() {
  std::size_t nearest = 0, longest = 0;
  for (std::size_t i = 0; i + 1 < ranges_.size(); ++i) {
    const std::size_t common = common_prefix(ranges_[i].range_end, ranges_[i + 1].key);
    if (common >= longest) nearest = i, longest = common;
  }
  ranges_[nearest].range_end = std::move(ranges_[nearest + 1].range_end);
  ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(nearest) + 1);
}

}  // namespace ingot::watch
