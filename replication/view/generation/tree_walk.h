// A reader's way through the ordered index of one root. Nodes that a root reaches do not change, so they are read where
// they lie; whether they were used again is asked at the end of the read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "replication/view/generation/read_source.h"

namespace ingot::inline replication_view_generation {

// A function without an answer has found that the memory is no such tree, or that the read has loaded too many
// words. Not thread-safe.
class TreeWalk {
 public:
  // REQUIRES: root.tree != 0.
  TreeWalk(ReadSource& source, const RootFields& root) : source_(source), root_(root) {}

  // Goes to the first key that is not below this one; `rank`: how many keys are below it.
  bool seek(std::string_view key);
  bool seek_ranked(std::string_view key, std::uint64_t& rank);

  // The leaf's entries from there on: their number in the leaf, and the version of one.
  std::size_t at() const { return levels_[0].at; }
  std::size_t count() const { return levels_[0].shape.count; }
  NodeRef version(std::size_t i) const {
    return low_half(source_.load(levels_[0].word + levels_[0].shape.links() + i));
  }
  // The first of them that is not below a key.
  std::optional<std::size_t> lower_bound(std::string_view key) { return bound(levels_[0], key, false); }

  // Goes to the first entry of the next leaf. `end`: there is none.
  bool next_leaf(bool& end);

 private:
  struct Level {
    std::uint64_t word = 0;  // of the node
    TreeShape shape;
    std::size_t at = 0;  // the entry on the way
  };

  bool open(NodeRef ref, std::size_t level);
  // The first entry with a key that is not below this one; `above`: that is above it.
  std::optional<std::size_t> bound(const Level& level, std::string_view key, bool above);
  bool compare_prefix(const Level& level, std::string_view key, int& order);
  bool compare_entry(const Level& level, std::size_t i, std::string_view key, int& order);
  NodeRef child(const Level& level) const {
    return low_half(source_.load(level.word + level.shape.links() + level.at));
  }
  void prefetch_next(const Level& parent) const;

  ReadSource& source_;
  const RootFields& root_;
  std::array<Level, kTreeLevelsMax> levels_;  // the leaf is the first
};

}  // namespace ingot::replication_view_generation
