// A node of the ordered index as its writer edits it: read from its words, changed, and written again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "replication/view/generation/nodes.h"

namespace ingot::inline replication_view_generation {

// A place for one entry more than a node has. Not thread-safe.
class TreeNode {
 public:
  explicit TreeNode(std::uint8_t level) : level_(level) {}
  static TreeNode read(const Nodes& nodes, NodeRef ref);
  // Words of the node that lies there.
  static std::uint64_t words_at(const Nodes& nodes, NodeRef ref) { return TreeShape::of(nodes.at(ref)[0]).words(); }

  std::uint8_t level() const { return level_; }
  std::size_t count() const { return count_; }
  bool overfull() const { return count_ > kTreeEntriesMax; }
  // A version (level 0) or the node below.
  NodeRef link(std::size_t i) const { return links_[i]; }
  // Keys below an entry, and below the node.
  std::uint64_t keys(std::size_t i) const { return level_ == 0 ? 1 : keys_[i]; }
  std::uint64_t all_keys() const;
  NodeRef separator(std::size_t i) const { return separators_[i]; }

  // Level 0: the first entry whose key is not below this one; found: it is this one.
  std::size_t lower_bound(const Nodes& nodes, std::string_view key, bool& found) const;
  // Other levels: the entry in whose part of the keys this one lies.
  std::size_t child_of(const Nodes& nodes, std::string_view key) const;

  void set_link(std::size_t i, NodeRef link) { links_[i] = link; }
  void set_keys(std::size_t i, std::uint64_t keys) { keys_[i] = keys; }
  // REQUIRES: count() <= kTreeEntriesMax. `separator` is 0 in level 0, and of an inner node's first entry.
  void insert(const Nodes& nodes, std::size_t i, NodeRef link, NodeRef separator, std::uint64_t keys);
  // An inner node's new first entry has no separator; the old one is the caller's to drop.
  void erase(std::size_t i);

  // Takes the entries from `from` on, with prefix and heads for what is left in both. An inner node's separator of that
  // entry is returned: it is to divide the two in the level above.
  NodeRef split(const Nodes& nodes, std::size_t from, TreeNode& right);
  // Adds the entries of the right neighbour, whose separator in the level above is given.
  void join(const Nodes& nodes, const TreeNode& right, NodeRef separator);

  // Writes the node over itself if that is possible, or anew. 0: there is no room. `ref` 0: it is new.
  NodeRef write(Nodes& nodes, NodeRef ref) const;

 private:
  // What an entry is compared by.
  NodeRef key_ref(std::size_t i) const { return level_ == 0 ? links_[i] : separators_[i]; }
  std::size_t first_keyed() const { return level_ == 0 ? 0 : 1; }
  void move(std::size_t from, std::size_t to) {
    heads_[to] = heads_[from];
    links_[to] = links_[from];
    separators_[to] = separators_[from];
    keys_[to] = keys_[from];
  }
  // Of the entries with keys: the first one that is not below the key (`above`: that is above it).
  std::size_t bound(const Nodes& nodes, std::string_view key, bool above) const;
  void find_prefix(const Nodes& nodes);
  void find_heads(const Nodes& nodes);

  std::uint8_t level_;
  std::size_t count_ = 0;
  std::string prefix_;
  std::array<std::uint64_t, kTreeEntriesMax + 1> heads_;
  std::array<std::uint64_t, kTreeEntriesMax + 1> keys_;
  std::array<NodeRef, kTreeEntriesMax + 1> links_;
  std::array<NodeRef, kTreeEntriesMax + 1> separators_;
};

// The shortest bytes that are above `left` and not above `right`. REQUIRES: left < right.
std::string_view separator_of(std::string_view left, std::string_view right);

}  // namespace ingot::replication_view_generation
