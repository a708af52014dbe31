// Nodes: bytes that are written once, before any word or root leads to them.
//
//    0  u32 check    of the node's place and all that follows, but for its words
//    4  u8 kind, u8 flags, u16 depth     the users'
//    8  u64 birth    16 bits of the incarnation, highest, and 48 of the batch
//   16  content, in words of 8 bytes
//
// Some words of the content may be checked words that change in place, with undo: the check leaves them out, as each
// has its own. Which ones is for the kind to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "replication/view/heap/chain.h"
#include "replication/view/heap/check.h"
#include "replication/view/heap/layout.h"

namespace ingot::inline replication_view_heap {

inline constexpr std::size_t kNodeHeaderWords = 2;

struct NodeKind {
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t depth = 0;
  bool operator==(const NodeKind&) const = default;
};

struct NodeBirth {
  std::uint16_t incarnation = 0;  // its low bits
  std::uint64_t batch = 0;
  std::uint64_t word() const { return std::uint64_t{incarnation} << 48 | batch; }
  static NodeBirth from(std::uint64_t word) {
    return {static_cast<std::uint16_t>(word >> 48), word & kContentMask};
  }
  bool operator==(const NodeBirth&) const = default;
};

// Words of a node that change in place, by their indices in the content.
struct NodeWords {
  std::size_t first = 0;
  std::size_t count = 0;
};

inline constexpr std::size_t node_bytes(std::size_t content_words) {
  return (kNodeHeaderWords + content_words) * kWordBytes;
}
inline constexpr std::uint64_t content_offset(HeapRef ref, std::size_t word = 0) {
  return offset_of(ref) + (kNodeHeaderWords + word) * kWordBytes;
}

inline NodeKind kind_of(std::uint64_t first_word) {
  return {static_cast<std::uint8_t>(first_word >> 32), static_cast<std::uint8_t>(first_word >> 40),
          static_cast<std::uint16_t>(first_word >> 48)};
}

// `node` is the header and the content. The check itself is not looked at.
inline std::uint32_t node_check(HeapRef ref, std::span<const std::uint64_t> node, NodeWords words) {
  const std::uint64_t seed = mix(ref.value(), node[0] >> 32);
  const std::size_t from = words.count == 0 ? 0 : 1 + words.first;
  const std::uint64_t hash = check_words(seed, node.subspan(1), from, words.count == 0 ? 0 : from + words.count);
  return static_cast<std::uint32_t>(hash >> 32);
}

// Whether these words are the node that was written there. REQUIRES: the words are within the content.
inline bool node_fits(HeapRef ref, std::span<const std::uint64_t> node, NodeWords words = {}) {
  return static_cast<std::uint32_t>(node[0]) == node_check(ref, node, words);
}

// Writes a node. The words among the content are given as contents (check.h). REQUIRES: the memory is allocated for it.
void write_node(Chain& chain, HeapRef ref, NodeKind kind, NodeBirth birth, std::span<const std::uint64_t> content,
                NodeWords words);

}  // namespace ingot::replication_view_heap
