// The ordered tree: keys to key nodes, for ranges. It knows nothing of versions.
//
// A new key is one word in a leaf. A full leaf is replaced by two, and the nodes above it by copies; the old ones are
// retired as they are, so a reader at an older root finds in them all keys that are visible there. A leaf goes with its
// last key, and an inner node with its last child. Its place between two separators stays, until its neighbour's is
// empty, too: so no fences of another node move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replication/view/heap/heap.h"
#include "replication/view/index/tree_cursor.h"
#include "replication/view/index/tree_edit.h"
#include "replication/view/index/tree_node.h"

namespace ingot::inline replication_view_index {

// The writer's side. Not thread-safe.
class OrderedTree {
 public:
  // `root` is part of the user's scalars of the heap's next root; heap and root outlive the tree.
  OrderedTree(Heap& heap, TreeRoot& root) : heap_(heap), root_(root), source_(heap.nodes()) {}

  // What a change needs, at most: bytes for Heap::has_room, and words of Heap::words_left.
  std::uint64_t room(std::size_t key_bytes) const;
  std::size_t words(std::size_t key_bytes) const;

  // Adds a key whose node is written. False: damage. REQUIRES: the tree does not have the key; room() and words() were
  // asked for.
  [[nodiscard]] bool insert(std::string_view key, HeapRef node);

  // Takes a key out of the leaf that readers at older roots use, too: to be called only when no root that may still be
  // read shows the key, so where the retired key is handed back (Heap::reclaim). False: damage, or the tree does not
  // have it, which is damage. REQUIRES: words(0) are left.
  [[nodiscard]] bool erase(std::string_view key, HeapRef node);

  // Ends with the next change.
  TreeCursor cursor() { return {source_, root_}; }

 private:
  struct Step {
    TreeNode node;
    std::size_t index = 0;  // of the child
  };
  // What replaces a child: one, none, or two with a separator between them.
  struct Replacement {
    HeapRef left;
    HeapRef separator = {};  // none: there is no right one
    std::string separator_key = {};
    HeapRef right = {};
  };
  // The separators around a node; none at the tree's ends.
  struct Fences {
    std::optional<std::string> low;
    std::optional<std::string> high;
    std::size_t common() const { return low && high ? prefix_of(*low, *high) : 0; }
  };

  bool descend(std::string_view key);
  std::optional<Fences> fences(std::size_t depth);
  bool damaged(const char* what);
  std::optional<HeapRef> stored(std::optional<HeapRef> node);

  bool add_leaf(std::string_view key, HeapRef node);
  bool split_leaf(std::string_view key, HeapRef node);
  std::optional<HeapRef> half_leaf(std::span<LeafEntry> entries, const Fences& fences);
  std::optional<HeapRef> write_leaf(std::span<const LeafEntry> entries, std::size_t prefix);

  bool replace(Replacement child);
  std::optional<Replacement> split_inner(std::size_t depth, InnerEdit& edit);
  std::optional<HeapRef> rewrite(const TreeNode& node, InnerEdit& edit);
  bool remove_leaf();
  bool join_missing(InnerEdit& edit);

  Heap& heap_;
  TreeRoot& root_;
  const NodeSource source_;
  // Where descend() has come.
  std::array<Step, kTreeLevelsMax - 1> path_;
  std::size_t depth_ = 0;       // steps of the path
  std::optional<HeapRef> end_;  // the leaf; nothing: the last step's child is missing, or there is no node at all
  TreeNode leaf_;
};

}  // namespace ingot::replication_view_index
