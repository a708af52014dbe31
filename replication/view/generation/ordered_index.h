// The writer's side of the ordered index: a B+ tree whose nodes are copied when they change, so each root has its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replication/view/generation/tree_node.h"

namespace ingot::inline replication_view_generation {

// Without room, a change leaves a tree that must not be published (Space::exhausted). Not thread-safe.
class OrderedIndex {
 public:
  explicit OrderedIndex(Nodes& nodes) : nodes_(nodes) {}

  NodeRef root() const { return root_; }
  std::uint8_t levels() const { return levels_; }
  std::uint64_t keys() const { return keys_; }

  // The version in force of its key.
  void put(NodeRef version);
  // False: there is no such key.
  bool erase(std::string_view key);
  // Adds the keys from `begin` on, below `end` (empty: all).
  void list(std::string_view begin, std::string_view end, std::vector<std::string>& keys) const {
    if (root_ != 0) list_below(root_, begin, end, keys);
  }

 private:
  // What a node became: another place, one fewer or two (`right` begins at `separator`), or nothing (`node` is 0).
  struct Changed {
    NodeRef node = 0;
    NodeRef right = 0;
    NodeRef separator = 0;
    std::uint64_t keys = 0;
    std::uint64_t right_keys = 0;
    std::size_t count = 0;  // entries of the node
    bool done = false;      // put: the key is new; erase: there was one
  };

  // `last`: no keys are behind the node's.
  Changed put_below(NodeRef ref, std::string_view key, NodeRef version, bool last);
  Changed put_in_leaf(NodeRef ref, std::string_view key, NodeRef version, bool last);
  bool list_below(NodeRef ref, std::string_view begin, std::string_view end, std::vector<std::string>& keys) const;
  Changed erase_below(NodeRef ref, std::string_view key);
  Changed written(TreeNode& node, NodeRef ref, bool at_end, bool done);
  NodeRef add_separator(std::string_view left, std::string_view right);
  void drop_separator(NodeRef separator);
  void drop_entry(TreeNode& node, std::size_t i);
  void join_neighbours(TreeNode& node, std::size_t i, std::size_t count);
  void add_root(const Changed& halves);
  void remove_thin_roots();

  Nodes& nodes_;
  NodeRef root_ = 0;
  std::uint8_t levels_ = 0;
  std::uint64_t keys_ = 0;
};

}  // namespace ingot::replication_view_generation
