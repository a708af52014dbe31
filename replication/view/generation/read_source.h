// The words of a generation as a reader sees them: anything may lie there, and change at any time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/rule.h"
#include "core/shared_cell.h"
#include "replication/view/generation/layout.h"

namespace ingot::inline replication_view_generation {

// Every word is charged to the read that loads it, before it is loaded. So a read ends, wherever damaged links lead. Not
// thread-safe.
class ReadSource {
 public:
  ReadSource(std::span<const std::byte> memory, std::uint64_t first_node_word)
      : memory_(memory), first_node_(first_node_word) {}

  // Acquire: with a link a reader sees the node that it leads to; with reused memory it sees the mark (HashIndex::set,
  // Nodes::reclaim). REQUIRES: the word is in the memory: in the header, the log, or holds() was true.
  std::uint64_t load(std::uint64_t word) const;

  // The words of a unit, each once.
  void copy_unit(std::uint64_t word, std::uint64_t* to) const {
    std::uint64_t words[kUnitWords];
#pragma GCC unroll 8
    for (std::uint64_t i = 0; i < kUnitWords; ++i) words[i] = load(word + i);
#pragma GCC unroll 8
    for (std::uint64_t i = 0; i < kUnitWords; ++i) to[i] = words[i];
  }

  // Begins a read that loads no more than this many words.
  void begin(std::uint64_t words) { left_ = words; }
  bool take(std::uint64_t words) {
    if (words > left_) return false;
    left_ -= words;
    return true;
  }

  // Whether so many words from a node's beginning are where nodes lie. Memory above the high water was never used, and
  // a load there would take pages.
  bool holds(NodeRef ref, std::uint64_t words) {
    const std::uint64_t first = word_of(ref);
    if (first < first_node_) return false;
    if (first + words <= end_) return true;
    return first + words <= end();
  }

  // The words below the high water. All that a root reaches whose number was loaded before lies there.
  std::uint64_t end() {
    end_ = std::min<std::uint64_t>(load(kHighWaterWord), memory_.size() / kUnitBytes) * kUnitWords;
    return end_;
  }

  // So many units from there on, wherever that is: a prefetch takes no fault.
  void prefetch(NodeRef ref, int units) const {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data()) + std::uint64_t{ref} * kUnitBytes;
    for (int i = 0; i < units; ++i) {
      __builtin_prefetch(reinterpret_cast<const void*>(at + static_cast<std::uintptr_t>(i) * kUnitBytes));
    }
  }

  // How the bytes at a word compare with a key: below 0, 0, above 0. They are charged for. REQUIRES: the bytes are in
  // the memory.
  bool compare(std::uint64_t word, std::size_t bytes, std::string_view key, int& order) {
    const std::size_t least = std::min(bytes, key.size());
    if (!take(words_for(least))) return false;
    for (std::size_t at = 0; at < least; at += kWordBytes) {
      const std::uint64_t part = load(word++);
      order = std::memcmp(&part, key.data() + at, std::min(least - at, kWordBytes));
      if (order != 0) return true;
    }
    order = bytes < key.size() ? -1 : bytes > key.size() ? 1 : 0;
    return true;
  }

 private:
  std::span<const std::byte> memory_;
  std::uint64_t first_node_;
  std::uint64_t end_ = 0;
  std::uint64_t left_ = 0;
};

inline std::uint64_t ReadSource::load(std::uint64_t word) const {
  return reinterpret_cast<const SharedCell<std::uint64_t>*>(memory_.data())[word].load(
      INGOT_RULE("loads-acquire") ? std::memory_order_acquire : std::memory_order_relaxed);
}

}  // namespace ingot::replication_view_generation
