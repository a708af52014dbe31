// What a reader has found: copies of versions, one behind the other, in memory that the next answer uses again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "replication/view/generation/layout.h"

namespace ingot::inline replication_view_generation {

struct ViewEntry {
  std::string_view key;
  std::string_view value;
  bool deleted = false;  // in an answer of changes only
  ViewRevision revision = 0;
  ViewRevision created = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
};

// Not thread-safe. Views of entries end with the next use of the answer.
class ViewAnswer {
 public:
  std::size_t size() const { return starts_.size(); }
  bool empty() const { return starts_.empty(); }
  // REQUIRES: i < size().
  ViewEntry operator[](std::size_t i) const {
    const std::uint64_t* const node = words_.get() + starts_[i];
    const char* const key = reinterpret_cast<const char*>(node + kVersionHeadWords);
    const std::uint32_t key_bytes = low_half(node[1]);
    return {.key = {key, key_bytes},
            .value = {key + words_for(key_bytes) * kWordBytes, high_half(node[1])},
            .deleted = (node[0] & kDeletedBit) != 0,
            .revision = static_cast<ViewRevision>(node[2]),
            .created = static_cast<ViewRevision>(node[3]),
            .version = static_cast<std::int64_t>(node[4]),
            .lease = static_cast<std::int64_t>(node[5])};
  }
  // A bound was met: there is more behind the last entry. Of changes: `position` is where they go on.
  bool more() const { return more_; }
  std::uint64_t position() const { return position_; }
  std::size_t bytes() const { return used_ * kWordBytes; }

  void clear() {
    starts_.clear();
    used_ = 0;
    more_ = false;
    position_ = 0;
  }

 private:
  friend class ViewReader;

  // Room for a node behind the last one. add() keeps what was put there.
  std::uint64_t* room(std::size_t words) {
    if (words > capacity_ - used_) grow(words);
    return words_.get() + used_;
  }
  void add(std::size_t words) {
    starts_.push_back(used_);
    used_ += words;
  }
  void take_back() {
    used_ = starts_.back();
    starts_.pop_back();
  }
  void grow(std::size_t words) {
    const std::size_t capacity = std::max(used_ + words, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<std::uint64_t[]>(capacity);
    if (used_ > 0) std::memcpy(larger.get(), words_.get(), used_ * kWordBytes);
    words_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<std::uint64_t[]> words_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  std::vector<std::size_t> starts_;
  bool more_ = false;
  std::uint64_t position_ = 0;
};

}  // namespace ingot::replication_view_generation
