// Nodes of the ordered tree: leaves, whose entries are words that change in place, and inner nodes, written once.
//
// Content of a leaf, in words:
//     u32 prefix bytes, u32 0
//     29 words: HeapRef of a key, 32 bits; tag, 16 bits: the two bytes of the key behind the prefix. 0: no entry
//
// Content of an inner node with n children, of which one may be 0: no key lies there:
//     u16 fence bytes, u16 prefix bytes, u32 n
//     u32 child[n], u32 head[n - 1], u32 separator[n - 1]
//
// separator[i] is the HeapRef of a key node (key_node.h) of the tree's own: no key of child i + 1 is below it, and all
// keys of child i are. So each node has two *fences*, the separators beside it, or none at the tree's ends. The fence
// bytes are what both fences begin with, and hence each key between them; a leaf's prefix is the same. An inner node's
// prefix is what all its separators begin with, and head[i] the four bytes of separator[i] behind it. Bytes behind a
// key's end count as 0, and prefixes have 65,535 bytes at most: so equal tags, or heads, tell nothing.
//
// A node's depth is its level: 0 for a leaf, and for an inner node one more than for its children, missing ones, too.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/rule.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/heap/nodes.h"
#include "replication/view/index/kinds.h"

namespace ingot::inline replication_view_index {

inline constexpr NodeKind kTreeLeafKind{.kind = static_cast<std::uint8_t>(IndexNode::kLeaf)};
inline constexpr NodeKind tree_inner_kind(std::size_t level) {
  return {.kind = static_cast<std::uint8_t>(IndexNode::kInner), .depth = static_cast<std::uint16_t>(level)};
}

// In mutable libraries (core/rule.h) nodes are small, so that short runs make many levels.
inline constexpr std::size_t kLeafEntries = INGOT_CONSTANT_RULES ? 29 : 4;
inline constexpr std::size_t kInnerChildrenMax = INGOT_CONSTANT_RULES ? 62 : 6;  // 760 bytes, of a class of 768
// Levels of a tree. At least 31 splits of its children split a node, and 15 new keys a leaf: one more level would take
// 2^53 of them.
inline constexpr std::size_t kTreeLevelsMax = 12;

inline constexpr NodeWords kLeafWords{.first = 1, .count = kLeafEntries};
inline constexpr std::size_t kLeafContentWords = 1 + kLeafEntries;
inline constexpr std::size_t inner_content_words(std::size_t children) { return 1 + (3 * children - 1) / 2; }
inline constexpr std::size_t kTreeNodeWords =
    kNodeHeaderWords + std::max(kLeafContentWords, inner_content_words(kInnerChildrenMax));
static_assert(!INGOT_CONSTANT_RULES || (node_bytes(kLeafContentWords) == 256 && kTreeNodeWords * kWordBytes == 760));

// ---- Bytes of keys -------------------------------------------------------------------------------------------------

inline constexpr std::size_t kPrefixBytesMax = 0xffff;

// With how many bytes both begin.
inline std::size_t common_bytes(std::string_view a, std::string_view b) {
  const auto most = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + most, b.begin()).first - a.begin());
}
inline std::size_t prefix_of(std::string_view a, std::string_view b) {
  return std::min(common_bytes(a, b), kPrefixBytesMax);
}

// The `bytes` bytes of a key at `at`, first one highest.
inline std::uint32_t key_bytes_at(std::string_view key, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + bytes; ++i) {
    value = value << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
  }
  return value;
}
inline std::uint32_t head_of(std::string_view key, std::size_t prefix) { return key_bytes_at(key, prefix, 4); }
inline std::uint16_t tag_of(std::string_view key, std::size_t prefix) {
  return static_cast<std::uint16_t>(key_bytes_at(key, prefix, 2));
}

// ---- Nodes ---------------------------------------------------------------------------------------------------------

struct LeafEntry {
  HeapRef key;
  std::uint16_t tag = 0;

  std::uint64_t content() const { return key.value() | std::uint64_t{tag} << 32; }
  static LeafEntry from(std::uint64_t content) {
    return {HeapRef(static_cast<std::uint32_t>(content)), static_cast<std::uint16_t>(content >> 32)};
  }

  // Sorts entries of one leaf by their keys. False: one is no key; if `source` is the writer's that is damage. It ends
  // whatever the keys' bytes, also when they change meanwhile.
  static bool sort(const NodeSource& source, std::span<LeafEntry> entries);
};

// A copy of a node. Not thread-safe.
class TreeNode {
 public:
  // Copies a node of that level. False: there is no such node, or it does not check, which is damage if `source` is the
  // writer's. REQUIRES: level < kTreeLevelsMax.
  bool read(const NodeSource& source, HeapRef ref, std::size_t level);

  HeapRef ref() const { return ref_; }
  std::size_t level() const { return kind_of(image_[0]).depth; }
  std::uint64_t birth_batch() const { return NodeBirth::from(image_[1]).batch; }

  // Of a leaf.
  std::size_t leaf_prefix_bytes() const { return image_[kNodeHeaderWords]; }
  bool used(std::size_t slot) const { return word(slot) != 0; }
  LeafEntry entry(std::size_t slot) const { return LeafEntry::from(word(slot)); }
  // Whether each entry checks; if not, that is damage in the writer's heap. Until then one that is used may be none.
  bool entries_fit(const NodeSource& source) const;
  std::uint64_t entry_offset(std::size_t slot) const { return content_offset(ref_, kLeafWords.first + slot); }

  // Of an inner node.
  std::size_t fence_bytes() const { return image_[kNodeHeaderWords] & kPrefixBytesMax; }
  std::size_t prefix_bytes() const { return image_[kNodeHeaderWords] >> 16 & kPrefixBytesMax; }
  std::size_t children() const { return image_[kNodeHeaderWords] >> 32; }
  HeapRef child(std::size_t i) const { return HeapRef(item(i)); }
  std::uint32_t head(std::size_t i) const { return item(children() + i); }
  HeapRef separator(std::size_t i) const { return HeapRef(item(2 * children() - 1 + i)); }

  // The child in which such a key lies, if the node has room for it between its fences. Nothing: a separator is none.
  std::optional<std::size_t> child_for(const NodeSource& source, std::string_view key) const;

 private:
  std::uint64_t word(std::size_t slot) const { return image_[kNodeHeaderWords + kLeafWords.first + slot]; }
  std::uint32_t item(std::size_t i) const {
    return static_cast<std::uint32_t>(image_[kNodeHeaderWords + 1 + i / 2] >> i % 2 * 32);
  }
  bool read_leaf(const NodeSource& source);
  bool read_inner(const NodeSource& source, std::size_t level);
  bool is_none(const NodeSource& source) const;
  std::optional<std::strong_ordering> compare(const NodeSource& source, std::size_t separator,
                                              std::string_view key) const;

  HeapRef ref_;
  std::array<std::uint64_t, kTreeNodeWords> image_;
};

}  // namespace ingot::replication_view_index
