// The bytes of a chain: the memory of one replica's state over its incarnations.
//
//   offset     bytes  what
//        0        64  identity: u64 magic, u32 layout version, u32 replica, u64 chain id, u64 bytes, u64 extents,
//                     u64 check; written once, the magic last
//       64        64  for the writer's lock, once processes share the memory
//      128        64  root number                         counter; readers poll this line
//      192        64  mark, incarnation                   counters
//      256        64  undo tag, splits begun              counters
//      512   2 x 512  root cells; cell [number % 2] is in force (HeapRoot)
//     2048       256  heads of the lists of extents, a word for each class; the last one is the list of empty extents
//     4096    98,304  undo log: 4,096 entries of 24 bytes
//   102400    65,536  table: 8,192 words of the users'
//   167936   N x 192  extent descriptors: links, nodes used, bitmap of 22 words
//   aligned to 64 KiB: N extents of 64 KiB, each of nodes of one class
//
// All is little-endian, in words of 8 bytes, and each access is one of whole words. A *counter* is a word with a check
// (check.h), like all words but bitmaps, the nodes' bytes, root cells and undo entries, which have checks of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/types.h"
#include "replication/view/heap/limits.h"

namespace ingot::inline replication_view_heap {

// Where a node begins, in units of 16 bytes from the chain's start. 0: none.
using HeapRef = Id<struct HeapRefTag, std::uint32_t>;

inline constexpr std::uint64_t kHeapRefUnit = 16;
inline constexpr std::uint64_t offset_of(HeapRef ref) { return ref.value() * kHeapRefUnit; }
inline constexpr HeapRef ref_at(std::uint64_t offset) {
  return HeapRef(static_cast<std::uint32_t>(offset / kHeapRefUnit));
}

inline constexpr std::uint64_t kHeapMagic = 0x31'5041'4548'474e'49;  // "INGHEAP1", first byte lowest
inline constexpr std::uint64_t kHeapLayoutVersion = 1;
inline constexpr std::size_t kWordBytes = 8;

struct HeapIdentity {
  std::uint64_t replica = 0;   // 32 bits
  std::uint64_t chain_id = 0;  // random; of no other chain
  bool operator==(const HeapIdentity&) const = default;
};

inline constexpr std::uint64_t kIdentityOffset = 0;
inline constexpr std::size_t kIdentityWords = 6;
inline constexpr std::uint64_t kNumberOffset = 128;
inline constexpr std::uint64_t kMarkOffset = 192;
inline constexpr std::uint64_t kIncarnationOffset = 200;
inline constexpr std::uint64_t kUndoTagOffset = 256;
inline constexpr std::uint64_t kSplitsBegunOffset = 264;
inline constexpr std::uint64_t kRootCellsOffset = 512;
inline constexpr std::uint64_t kRootCellBytes = 512;
inline constexpr std::uint64_t kListsOffset = 2048;
inline constexpr std::size_t kLists = 32;
inline constexpr std::size_t kEmptyList = kLists - 1;
inline constexpr std::uint64_t kUndoOffset = 4096;
inline constexpr std::uint64_t kUndoEntryBytes = 24;
inline constexpr std::uint64_t kTableOffset = kUndoOffset + kUndoEntriesMax * kUndoEntryBytes;
inline constexpr std::size_t kTableWords = 8192;
inline constexpr std::uint64_t kDescriptorsOffset = kTableOffset + kTableWords * kWordBytes;
inline constexpr std::uint64_t kExtentBytes = 64 * 1024;
inline constexpr std::size_t kBitmapWords = 22;
inline constexpr std::uint64_t kDescriptorBytes = (2 + kBitmapWords) * kWordBytes;

static_assert(kTableOffset == 102'400 && kDescriptorsOffset == 167'936 && kDescriptorBytes == 192);
static_assert(kRootCellsOffset + 2 * kRootCellBytes <= kListsOffset);
static_assert(kListsOffset + kLists * kWordBytes <= kUndoOffset);
static_assert(kHeapBytesMax / kHeapRefUnit == std::uint64_t{1} << 32, "references have 32 bits");

inline constexpr std::uint64_t table_word(std::size_t index) { return kTableOffset + index * kWordBytes; }
inline constexpr std::uint64_t list_word(std::size_t list) { return kListsOffset + list * kWordBytes; }

// The descriptor of an extent: its links, the number of nodes used, its bitmap.
inline constexpr std::uint64_t links_word(std::uint64_t extent) {
  return kDescriptorsOffset + extent * kDescriptorBytes;
}
inline constexpr std::uint64_t used_word(std::uint64_t extent) { return links_word(extent) + kWordBytes; }
inline constexpr std::uint64_t bitmap_word(std::uint64_t extent, std::size_t word) {
  return links_word(extent) + (2 + word) * kWordBytes;
}

inline constexpr std::uint64_t first_extent_offset(std::uint64_t extents) {
  return (links_word(extents) + kExtentBytes - 1) / kExtentBytes * kExtentBytes;
}

// The most extents that memory of `bytes` has room for.
inline constexpr std::uint64_t extents_in(std::uint64_t bytes) {
  if (bytes < first_extent_offset(1)) return 0;
  std::uint64_t extents = (bytes - kDescriptorsOffset) / (kExtentBytes + kDescriptorBytes);
  while (first_extent_offset(extents) + extents * kExtentBytes > bytes) --extents;
  return extents;
}

static_assert(extents_in(first_extent_offset(8) + 8 * kExtentBytes) == 8);
static_assert(extents_in(kHeapBytesMax) < std::uint64_t{1} << 20, "links have 20 bits for each extent");

}  // namespace ingot::replication_view_heap
