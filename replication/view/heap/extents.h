// Which nodes' memory is used: extents of 64 KiB, each of nodes of one class, with a bitmap.
//
// Descriptors, bitmaps and the lists' heads are words with undo. So after a kill they are those of the last root:
// nothing is traced, nothing leaks, and nothing is free twice.
//
// The extents of a class that have room are linked in a list, which begins with the one that is allocated from. An
// extent without room is in no list. One whose last node is freed goes to the list of empty extents, from which any
// class takes, unless it is its list's only one. So each list has one empty extent at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replication/view/heap/chain.h"
#include "replication/view/heap/classes.h"
#include "replication/view/heap/damage.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/root.h"
#include "replication/view/heap/words.h"

namespace ingot::inline replication_view_heap {

enum class ExtentState : std::uint8_t { kClass = 1, kEmpty = 2 };

// The first word of a descriptor. Extents are counted from 1 here; 0: none.
struct ExtentLinks {
  std::uint32_t next = 0;
  std::uint32_t previous = 0;
  std::uint8_t node_class = 0;
  ExtentState state = ExtentState::kClass;

  std::uint64_t content() const {
    return next | std::uint64_t{previous} << 20 | std::uint64_t{node_class} << 40 | std::uint64_t(state) << 45;
  }
  static ExtentLinks from(std::uint64_t content) {
    return {static_cast<std::uint32_t>(content & 0xfffff), static_cast<std::uint32_t>(content >> 20 & 0xfffff),
            static_cast<std::uint8_t>(content >> 40 & 0x1f), static_cast<ExtentState>(content >> 45)};
  }
};

// Of a node's place, from its reference.
struct NodePlace {
  std::uint64_t extent;
  std::size_t slot;  // in its extent
  std::size_t node_class;
};

// Not thread-safe. One writer.
class Extents {
 public:
  // `scalars` are those of the next root.
  Extents(Chain chain, Words& words, RootScalars& scalars, HeapDamage& damage);

  // Memory for a node; nothing: all is used, or something is damaged. REQUIRES: bytes <= kHeapNodeBytesMax.
  std::optional<HeapRef> allocate(std::size_t bytes);
  void free(HeapRef ref);
  void free(const NodePlace& place);

  // Where an allocated node lies; nothing, and damage: no node lies there.
  std::optional<NodePlace> place_of(HeapRef ref);

  // Extents that no node is in, and all.
  std::uint64_t extents_free() const { return extents_ - scalars_.extents_begun + scalars_.extents_empty; }
  std::uint64_t extents() const { return extents_; }

  // Calls visit(ref, class) for each node that is allocated. For tests and for verification.
  template <typename Visit>
  void for_each_node(Visit visit);

 private:
  std::optional<ExtentLinks> links(std::uint64_t extent);
  void set_links(std::uint64_t extent, const ExtentLinks& links) {
    words_.set_content(links_word(extent), links.content());
  }
  std::optional<std::uint64_t> checked(std::uint64_t offset, const char* what);
  std::optional<std::size_t> list_of(std::uint64_t extent);
  bool fits_bitmap(std::uint64_t extent, std::size_t nodes);
  std::optional<std::uint64_t> first_of(std::size_t list);  // counted from 1; 0: none
  std::optional<std::uint64_t> extent_with_room(std::size_t node_class);
  std::optional<std::uint64_t> take_unused();
  void give_up(std::uint64_t extent, std::size_t node_class);
  bool push(std::size_t list, std::uint64_t extent, ExtentLinks links);
  bool unlink(std::size_t list, std::uint64_t extent);
  bool relink(std::size_t list, const ExtentLinks& links, std::uint64_t extent);
  std::optional<std::size_t> free_slot(std::size_t node_class, std::uint64_t extent);
  std::uint64_t offset(std::uint64_t extent) const { return first_offset_ + extent * kExtentBytes; }

  Chain chain_;
  Words& words_;
  RootScalars& scalars_;
  HeapDamage& damage_;
  const std::uint64_t extents_;
  const std::uint64_t first_offset_;
  // By extent: its class, or kEmptyList; kUnknown until this incarnation has read it and has compared its bitmap with
  // the number used.
  static constexpr std::uint8_t kUnknown = 255;
  std::vector<std::uint8_t> lists_;

  // Where to look for room: no bitmap word before it has any.
  struct Hint {
    std::uint64_t extent = 0;
    std::size_t word = 0;
  };
  std::array<Hint, kClasses> hints_{};
};

template <typename Visit>
void Extents::for_each_node(Visit visit) {
  for (std::uint64_t extent = 0; extent < scalars_.extents_begun; ++extent) {
    const auto found = links(extent);
    if (!found) return;
    for (std::size_t slot = 0; slot < nodes_in_extent(found->node_class); ++slot) {
      if (chain_.load(bitmap_word(extent, slot / 64)) >> slot % 64 & 1) {
        visit(ref_at(offset(extent) + slot * kClassBytes[found->node_class]), found->node_class);
      }
    }
  }
}

}  // namespace ingot::replication_view_heap
