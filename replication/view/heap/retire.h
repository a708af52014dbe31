// The retire queue: what the next root no longer reaches, in the order of its batches, until it may be used again.
//
// The queue lies in nodes of 4,096 bytes, each with 254 entries and the reference of the next one. Entries behind the
// end that a root names do not count, so appending needs no undo. Readers never read the queue.
//
// Content of a chunk, in words: next (checked HeapRef), zero; then for each entry
//     checked word: HeapRef, 32 bits; kind, 16 bits
//     checked word: the batch that retired it
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "replication/view/heap/chain.h"
#include "replication/view/heap/damage.h"
#include "replication/view/heap/extents.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/nodes.h"
#include "replication/view/heap/root.h"
#include "replication/view/heap/walk_guard.h"

namespace ingot::inline replication_view_heap {

inline constexpr std::uint16_t kRetiredNode = 0;  // all other kinds are the users': they are handed to them
inline constexpr std::uint8_t kRetireChunkKind = 255;
inline constexpr std::size_t kRetireChunkWords = kHeapNodeBytesMax / kWordBytes - kNodeHeaderWords;
inline constexpr std::size_t kRetireChunkEntries = (kRetireChunkWords - 2) / 2;
static_assert(kRetireChunkEntries == 254);

struct Retired {
  HeapRef ref;
  std::uint16_t kind = kRetiredNode;
  std::uint64_t batch = 0;
};

// Not thread-safe. One writer.
class RetireQueue {
 public:
  // `scalars` are those of the next root.
  RetireQueue(Chain chain, Extents& extents, RootScalars& scalars, HeapDamage& damage)
      : chain_(chain), extents_(extents), scalars_(scalars), damage_(damage) {}

  std::uint64_t size() const { return scalars_.retire_end - scalars_.retire_begin; }

  // False: there is no memory for it, or damage.
  [[nodiscard]] bool append(const Retired& retired, NodeBirth birth);

  // Entry `index` from the front; nothing: damage. REQUIRES: index < size().
  std::optional<Retired> at(std::size_t index);
  void pop();

  // Calls visit(HeapRef) for each of the queue's own nodes.
  template <typename Visit>
  void for_each_chunk(Visit visit) {
    std::uint64_t chunk = scalars_.retire_first;
    WalkGuard guard;
    while (chunk != 0 && !damage_.found()) {
      const HeapRef ref(static_cast<std::uint32_t>(chunk));
      if (guard.leads_back(chunk)) return damage_.report("the retire queue leads back to itself", offset_of(ref));
      visit(ref);
      chunk = chunk == scalars_.retire_last ? 0 : next_of(ref).value_or(HeapRef()).value();
    }
  }

 private:
  static std::uint64_t entry_offset(HeapRef chunk, std::uint64_t index) {
    return content_offset(chunk, 2 + index % kRetireChunkEntries * 2);
  }
  std::optional<HeapRef> chunk_at(std::uint64_t ref);
  std::optional<HeapRef> first_chunk();
  std::optional<HeapRef> last_chunk();
  std::optional<HeapRef> next_of(HeapRef chunk);
  bool add_chunk(NodeBirth birth);

  Chain chain_;
  Extents& extents_;
  RootScalars& scalars_;
  HeapDamage& damage_;
  // Chunks that were looked at already.
  HeapRef known_first_;
  HeapRef known_last_;
};

}  // namespace ingot::replication_view_heap
