// Key nodes: one for each key that has a version. The hash index and the ordered tree lead to it, and its head to the
// versions.
//
// Content, in words:
//   0  head (word): 32 bits, the newest version's HeapRef; 16 bits, the lowest of its revision. 0: there is none
//   1  u32 hash of the key, u32 bytes of the key
//   2  the key, up to kKeyBytesInNode bytes of it, with zeros behind; then the references of the pieces with the rest
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/stable_hash.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/index/limits.h"

namespace ingot::inline replication_view_index {

// The hash by which a key is found: the same in each incarnation.
inline std::uint32_t key_hash(std::string_view key) { return static_cast<std::uint32_t>(hash_bytes(key) >> 32); }

// Where the head of a key node lies, for Heap::content, Heap::set and NodeSource::content.
inline constexpr std::uint64_t key_head_word(HeapRef key) { return content_offset(key, 0); }

// A head's content.
struct KeyHead {
  HeapRef version;             // none: the key has no version yet
  std::uint16_t revision = 0;  // the low bits of its revision

  std::uint64_t content() const { return version.value() | std::uint64_t{revision} << 32; }
  static KeyHead from(std::uint64_t content) {
    return {HeapRef(static_cast<std::uint32_t>(content)), static_cast<std::uint16_t>(content >> 32)};
  }
  bool operator==(const KeyHead&) const = default;
};

// A copy of a key node without its head: 4 KiB, for the stack. Not thread-safe.
class KeyNode {
 public:
  // False: it is no key node, which is damage if `source` is the writer's.
  bool read(const NodeSource& source, HeapRef ref);

  std::uint32_t hash() const { return static_cast<std::uint32_t>(sizes()); }
  std::size_t bytes() const { return static_cast<std::size_t>(sizes() >> 32); }

  // This key compared with another one, as strings of unsigned bytes; nothing: a piece is no piece.
  std::optional<std::strong_ordering> compare(const NodeSource& source, std::string_view key) const;

  // The key. `scratch` holds it if it is long; otherwise the view ends with this copy. Nothing: a piece is no piece.
  std::optional<std::string_view> key(const NodeSource& source, std::string& scratch) const;

  // Retires the node and its pieces. REQUIRES: it was read from that heap, and no word leads to it.
  void retire(Heap& heap, HeapRef ref) const;

  // What the key has in the node itself; all of it, unless it is long.
  std::string_view front() const;
  bool is_long() const { return bytes() > kKeyBytesInNode; }

 private:
  static constexpr std::size_t kWordsMax = kHeapNodeBytesMax / kWordBytes;

  std::uint64_t sizes() const { return image_[kNodeHeaderWords + 1]; }
  std::span<const std::uint64_t> pieces() const;

  std::array<std::uint64_t, kWordsMax> image_;
};

// Writes a key node and its pieces. The head may be none, until the first version refers to the key. Nothing: there is
// no memory for it, or damage. REQUIRES: key.size() <= kStoredBytesMax; key_room(key.size()) was asked for.
std::optional<HeapRef> add_key(Heap& heap, std::string_view key, KeyHead head);

// Bytes of nodes that a key takes, for Heap::has_room.
std::size_t key_room(std::size_t key_bytes);

// Whether that node is the key's. Only a difference costs the node's check. Nothing: it differs, and is no key node.
std::optional<bool> is_key(const NodeSource& source, HeapRef ref, std::string_view key, std::uint32_t hash);

}  // namespace ingot::replication_view_index
