// A walk over the keys of an ordered tree, in their order: of its writer, or of a reader of any process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "replication/view/heap/node_source.h"
#include "replication/view/index/tree_node.h"

namespace ingot::inline replication_view_index {

// What a root has of the tree, among its user's scalars.
struct TreeRoot {
  std::uint64_t node = 0;    // HeapRef of the topmost node; 0: there is no key
  std::uint64_t levels = 0;  // of nodes; the topmost one's level is one less
  std::uint64_t keys = 0;
  std::uint64_t longest_key = 0;  // bytes, of all that were ever inserted
  bool operator==(const TreeRoot&) const = default;
};

enum class TreeStep : std::uint8_t {
  kKey,      // the cursor stands at a key
  kEnd,      // there is none in that direction; seek() again to go on
  kPaused,   // not found yet: next() or previous(), whichever the direction was, goes on
  kGarbage,  // no such tree: damage in the writer's heap, and for a reader likely nothing that counts
};

// Not thread-safe. 10 KiB. Each step reads at most kStepNodesMax nodes of the tree, and of a leaf's 29 keys those that
// have the same two bytes behind the leaf's prefix; whatever the memory's bytes, it ends and reads nothing outside.
// Steps in one direction come to kEnd or kGarbage after as many nodes as the memory has room for.
//
// A writer's cursor ends with the next change of the tree. A reader's finds each key that is visible at its root, and
// may find newer ones, which have no version that is visible there; what it finds counts if the HeapReader says so.
class TreeCursor {
 public:
  static constexpr std::size_t kStepNodesMax = 3 * kTreeLevelsMax;

  TreeCursor(NodeSource source, const TreeRoot& root) : source_(source), root_(root) {}

  TreeStep seek(std::string_view key);         // to the first key that is not below it
  TreeStep seek_before(std::string_view key);  // to the last key below it
  TreeStep seek_last();
  TreeStep next();
  TreeStep previous();

  // The key node. REQUIRES: the last step was kKey.
  HeapRef key() const { return entries_[at_].key; }

 private:
  enum Direction : std::ptrdiff_t { kBack = -1, kForward = 1 };
  struct Step {
    TreeNode node;
    std::ptrdiff_t index = 0;  // of the child; -1 or the number of children: before or behind all

    bool move(Direction direction) {
      index += direction;
      return index >= 0 && index < static_cast<std::ptrdiff_t>(node.children());
    }
  };

  bool plausible() const;
  TreeStep descend(std::string_view key);
  TreeStep neighbour(Direction direction);
  bool open_node(HeapRef ref, std::size_t level, Direction direction);
  bool open_leaf(HeapRef ref);
  std::optional<std::size_t> first_not_below(std::string_view key);

  NodeSource source_;
  const TreeRoot root_;
  std::array<Step, kTreeLevelsMax - 1> path_;  // from the root's node on
  std::size_t depth_ = 0;                      // of them in use
  std::uint64_t walked_ = 0;                   // nodes, since the seek or since the direction has changed
  Direction direction_ = kForward;
  TreeNode leaf_;
  std::array<LeafEntry, kLeafEntries> entries_;  // the leaf's, in the order of their keys
  std::size_t count_ = 0;
  std::size_t at_ = 0;
};

}  // namespace ingot::replication_view_index
