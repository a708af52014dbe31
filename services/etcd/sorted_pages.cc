#include "services/etcd/sorted_pages.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "replication/store/limits.h"
#include "replication/store/sort.h"

namespace ingot::etcd {
namespace {

std::size_t bytes_of(const kv::KeyValue& entry) { return sizeof(entry) + entry.key.size() + entry.value.size(); }

}  // namespace

SortedPages::SortedPages(kv::SortOrder order, kv::SortTarget target, std::int64_t limit)
    : descend_(order == kv::SortOrder::kDescend),
      target_(target),
      limit_(limit > 0 ? static_cast<std::size_t>(limit) : std::numeric_limits<std::size_t>::max()) {}

void SortedPages::add(std::vector<kv::KeyValue> page) {
  if (page.empty()) return;
  for (const kv::KeyValue& entry : page) bytes_ += bytes_of(entry);
  held_ += page.size();
  runs_.push_back({std::move(page), 0});
  const bool many = held_ > kStepEntriesMax && held_ / 2 > limit_;
  const bool large = bytes_ > kPageBytesMax && bytes_ / 2 > kept_bytes_ && held_ > limit_;
  if (many || large) keep_first();
}

// Costs little beside what has come since the last time: as many results again, or as many bytes.
void SortedPages::keep_first() {
  Run kept;
  kept.results.reserve(limit_);
  make_heap();
  while (kept.results.size() < limit_) kept.results.push_back(pop());
  runs_.clear();
  cut_ = true;
  held_ = kept.results.size();
  bytes_ = 0;
  for (const kv::KeyValue& entry : kept.results) bytes_ += bytes_of(entry);
  kept_bytes_ = bytes_;
  runs_.push_back(std::move(kept));
}

bool SortedPages::later(std::size_t a, std::size_t b) const {
  const kv::KeyValue& left = runs_[a].results[runs_[a].next];
  const kv::KeyValue& right = runs_[b].results[runs_[b].next];
  const int order = kv::compare_by(target_, left, right);
  if (order == 0) return a > b;
  return descend_ ? order < 0 : order > 0;
}

void SortedPages::make_heap() {
  heap_.resize(runs_.size());
  std::iota(heap_.begin(), heap_.end(), std::size_t{0});
  std::make_heap(heap_.begin(), heap_.end(), [this](std::size_t a, std::size_t b) { return later(a, b); });
}

kv::KeyValue SortedPages::pop() {
  const auto order = [this](std::size_t a, std::size_t b) { return later(a, b); };
  std::pop_heap(heap_.begin(), heap_.end(), order);
  Run& run = runs_[heap_.back()];
  kv::KeyValue first = std::move(run.results[run.next]);
  if (++run.next < run.results.size()) {
    std::push_heap(heap_.begin(), heap_.end(), order);
  } else {
    heap_.pop_back();
    run.results = {};
  }
  return first;
}

std::vector<kv::KeyValue> SortedPages::take(std::size_t bytes_max) {
  if (!std::exchange(merging_, true)) {
    make_heap();
    cut_ = cut_ || held_ > limit_;
  }
  std::vector<kv::KeyValue> results;
  for (std::size_t bytes = 0; bytes < bytes_max && !heap_.empty() && taken_ < limit_; ++taken_) {
    bytes += bytes_of(results.emplace_back(pop()));
  }
  return results;
}

}  // namespace ingot::etcd
