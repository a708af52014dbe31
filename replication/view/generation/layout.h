// The bytes of a generation. All is little-endian, in words of 8 bytes; each access is one of whole words.
//
//   word            bytes
//      0               56   magic, layout version, bytes, seed of the hash, entries of the log, identity of the state,
//                           generation's number; written once
//      8               24   root number, mark, gone: what each read looks at, in one cache line
//     16                8   high water: no node ends behind it, in units
//     64      16 x 64       root cells; cell [number % 16] has root `number` (RootFields)
//    512    N x 16          log of changes: revision, hash of the key; change p is at [p % N]
//   behind it               nodes, each of whole units of 64 bytes
//
// A *reference* is a node's place in units from the generation's beginning; 0: none. Nodes are:
//
//   version      one state of a key: its value, or that it is deleted
//     0  u32 previous version (of an older root), u8 deleted, u8 kind at the top
//     1  u32 bytes of the key, u32 bytes of the value
//     2  i64 revision; 3 i64 create revision; 4 i64 version; 5 i64 lease
//     6  the key, then the value, each with zeros up to a whole word
//   buckets      the hash index: 2^bits of 64 bytes, found by the low bits of the key's tag
//     0-6  u32 version, u32 tag: the high half of the key's hash; 0: none
//     7    u32 bucket that follows
//   tree node    the ordered index; copied when it changes
//     0  u32 bytes of the prefix, u16 entries, u8 level (0: leaf), u8 kind
//     .  the prefix: what all keys of the node begin with
//     .  an entry's head each: 8 bytes of its key behind the prefix, highest first
//     .  an entry's link each: u32 version; in other levels u32 node below, u32 separator (first entry: none)
//     .  in other levels, an entry's number of keys each
//   separator    divides the keys of two neighbours: not above the right one's first, above the left one's last
//     0  u8 kind at the top; 1 u32 bytes; 2 the separator
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "replication/view/generation/limits.h"

namespace ingot::inline replication_view_generation {

using NodeRef = std::uint32_t;
using ViewRevision = std::int64_t;

inline constexpr std::size_t kWordBytes = 8;
inline constexpr std::uint64_t kUnitWords = 8;
inline constexpr std::uint64_t kUnitBytes = kUnitWords * kWordBytes;
static_assert(kGenerationBytesMax / kUnitBytes <= std::uint64_t{1} << 32, "references have 32 bits");

inline constexpr std::uint64_t kGenerationMagic = 0x314e4547544f474e;  // "NGOTGEN1", first byte lowest
inline constexpr std::uint64_t kGenerationLayout = 1;

inline constexpr std::uint64_t kMagicWord = 0;
inline constexpr std::uint64_t kLayoutWord = 1;
inline constexpr std::uint64_t kBytesWord = 2;
inline constexpr std::uint64_t kSeedWord = 3;
inline constexpr std::uint64_t kLogEntriesWord = 4;
inline constexpr std::uint64_t kIdentityWord = 5;
inline constexpr std::uint64_t kGenerationWord = 6;
inline constexpr std::uint64_t kNumberWord = 8;
inline constexpr std::uint64_t kMarkWord = 9;
inline constexpr std::uint64_t kGoneWord = 10;  // the supervisor's: not zero once the generation is given up
inline constexpr std::uint64_t kHighWaterWord = 16;
inline constexpr std::uint64_t kRootCellsWord = 64;
inline constexpr std::uint64_t kRootWords = 8;
inline constexpr std::uint64_t kHeaderWords = 512;
inline constexpr std::uint64_t kLogEntryWords = 2;
static_assert(kRootCellsWord + kRootCells * kRootWords <= kHeaderWords);

inline constexpr std::uint64_t log_entries_in(std::uint64_t bytes) {
  const std::uint64_t entries = std::bit_floor(bytes / kLogShare / (kLogEntryWords * kWordBytes));
  return entries < kLogEntriesMin ? kLogEntriesMin : entries;
}
inline constexpr std::uint64_t first_node_word(std::uint64_t log_entries) {
  return (kHeaderWords + log_entries * kLogEntryWords + kUnitWords - 1) / kUnitWords * kUnitWords;
}
inline constexpr std::uint64_t words_for(std::uint64_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes; }
inline constexpr std::uint64_t units_for(std::uint64_t words) { return (words + kUnitWords - 1) / kUnitWords; }
inline constexpr std::uint64_t word_of(NodeRef ref) { return std::uint64_t{ref} * kUnitWords; }

enum class NodeKind : std::uint8_t { kVersion = 0x56, kSeparator = 0x53, kTree = 0x54 };
inline constexpr int kKindShift = 56;
inline constexpr std::uint64_t kind_bits(NodeKind kind) { return static_cast<std::uint64_t>(kind) << kKindShift; }
inline constexpr bool is_kind(std::uint64_t word, NodeKind kind) {
  return word >> kKindShift == static_cast<std::uint64_t>(kind);
}
inline constexpr std::uint32_t low_half(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
inline constexpr std::uint32_t high_half(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
inline constexpr std::uint64_t two_halves(std::uint32_t low, std::uint32_t high) {
  return low | static_cast<std::uint64_t>(high) << 32;
}

// ---- Roots ---------------------------------------------------------------------------------------------------------

// One published state: all of the first `revision` revisions of the store.
struct RootFields {
  ViewRevision revision = 0;
  NodeRef table = 0;
  std::uint8_t table_bits = 0;
  NodeRef tree = 0;              // 0: no keys
  std::uint8_t tree_levels = 0;  // the root node's level + 1
  std::uint64_t keys = 0;
  std::uint64_t log_begin = 0;    // changes [log_begin, log_end) are in the log
  std::uint64_t log_end = 0;
  ViewRevision log_floor = 0;  // all changes after this revision are among them
};

inline constexpr std::uint64_t root_cell_word(std::uint64_t number) {
  return kRootCellsWord + number % kRootCells * kRootWords;
}

// ---- Versions ------------------------------------------------------------------------------------------------------

inline constexpr std::uint64_t kVersionHeadWords = 6;
inline constexpr std::uint64_t kDeletedBit = std::uint64_t{1} << 32;

inline constexpr std::uint64_t version_words(std::uint64_t key_bytes, std::uint64_t value_bytes) {
  return kVersionHeadWords + words_for(key_bytes) + words_for(value_bytes);
}

// ---- Buckets -------------------------------------------------------------------------------------------------------

inline constexpr std::uint64_t kBucketEntries = kUnitWords - 1;
inline constexpr std::uint32_t tag_of(std::uint64_t hash) { return high_half(hash); }

// ---- Tree nodes and separators -------------------------------------------------------------------------------------

inline constexpr std::uint64_t kSeparatorHeadWords = 2;

struct TreeShape {
  std::uint32_t prefix_bytes = 0;
  std::uint16_t count = 0;
  std::uint8_t level = 0;

  static constexpr TreeShape of(std::uint64_t word) {
    return {low_half(word), static_cast<std::uint16_t>(word >> 32), static_cast<std::uint8_t>(word >> 48)};
  }
  constexpr std::uint64_t word() const {
    return prefix_bytes | std::uint64_t{count} << 32 | std::uint64_t{level} << 48 | kind_bits(NodeKind::kTree);
  }
  constexpr bool valid() const {
    return prefix_bytes <= kTreePrefixBytesMax && count > 0 && count <= kTreeEntriesMax && level < kTreeLevelsMax;
  }
  // Words from the node's beginning on.
  constexpr std::uint64_t heads() const { return 1 + words_for(prefix_bytes); }
  constexpr std::uint64_t links() const { return heads() + count; }
  constexpr std::uint64_t counts() const { return links() + count; }
  constexpr std::uint64_t words() const { return counts() + (level > 0 ? count : 0); }
};

inline constexpr std::size_t kTreeNodeWordsMax = 1 + words_for(kTreePrefixBytesMax) + 3 * kTreeEntriesMax;

// 8 bytes of a key behind the prefix as a number that sorts like them; zeros behind its end.
inline std::uint64_t head_of(std::string_view key, std::size_t prefix_bytes) {
  if (key.size() <= prefix_bytes) return 0;
  std::uint64_t head = 0;
  const std::size_t rest = key.size() - prefix_bytes;
  std::memcpy(&head, key.data() + prefix_bytes, rest < kWordBytes ? rest : kWordBytes);
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(head);
}

}  // namespace ingot::replication_view_generation
