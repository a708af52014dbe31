// Where nodes and words are read from: the chain as its writer sees it, which notes damage, or as a reader does, to
// whom the same is garbage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "replication/view/heap/chain.h"
#include "replication/view/heap/check.h"
#include "replication/view/heap/damage.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/nodes.h"

namespace ingot::inline replication_view_heap {

// A view, copied freely; the heap or the reader that it is from outlives it. Whatever the memory's bytes, no call reads
// outside of it. Thread safety: as of what it is from.
class NodeSource {
 public:
  // `damage` is null for readers.
  NodeSource(Chain chain, HeapDamage* damage)
      : chain_(chain), damage_(damage), first_offset_(first_extent_offset(extents_in(chain.size()))) {}

  // The content of a checked word; nothing: outside of the memory, or not a word of this place.
  std::optional<std::uint64_t> content(std::uint64_t offset) const {
    if (offset % kWordBytes == 0 && chain_.holds(offset, 1)) {
      if (const auto content = content_of(offset, chain_.load(offset))) return content;
    }
    report("a word", offset);
    return std::nullopt;
  }

  // The same of a word that load_words() has loaded from there.
  std::optional<std::uint64_t> content_in(std::uint64_t offset, std::uint64_t word) const {
    const auto content = content_of(offset, word);
    if (!content) report("a word", offset);
    return content;
  }

  // Copies words as they are. False: they lie outside of the memory.
  bool load_words(std::uint64_t offset, std::span<std::uint64_t> words) const {
    if (offset % kWordBytes == 0 && chain_.holds(offset, words.size())) {
      chain_.load_words(offset, words);
      return true;
    }
    report("words outside of the memory", offset);
    return false;
  }

  // Word `word` of a node's content as it is, for what tells the node's size: copy() checks it. Nothing: outside.
  std::optional<std::uint64_t> peek(HeapRef ref, std::size_t word) const {
    if (inside(ref, kNodeHeaderWords + word + 1)) return chain_.load(content_offset(ref, word));
    report("a node outside of the extents", offset_of(ref));
    return std::nullopt;
  }

  // Copies words of a node, header included, from word `first` on, as they are: the caller looks at node_fits() when it
  // has all. False: they lie outside of the extents.
  bool load(HeapRef ref, std::size_t first, std::span<std::uint64_t> words) const {
    if (!inside(ref, first + words.size())) {
      report("a node outside of the extents", offset_of(ref));
      return false;
    }
    chain_.load_words(offset_of(ref) + first * kWordBytes, words);
    return true;
  }

  // Copies a node, header included, but for the words in it, which content() reads. False: it lies outside of the
  // extents, or is not the node that was written there.
  bool copy(HeapRef ref, std::span<std::uint64_t> node, NodeWords words = {}) const {
    if (inside(ref, node.size())) {
      const std::size_t from = kNodeHeaderWords + words.first;
      chain_.load_words(offset_of(ref), node.first(words.count == 0 ? node.size() : from));
      if (words.count > 0) {
        chain_.load_words(content_offset(ref, words.first + words.count), node.subspan(from + words.count));
      }
      if (node_fits(ref, node, words)) return true;
    }
    report("a node", offset_of(ref));
    return false;
  }

  // Of the memory.
  std::uint64_t bytes() const { return chain_.size(); }

  // Notes what cannot be so, if this is the writer's.
  void report(const char* what, std::uint64_t offset) const {
    if (damage_ != nullptr) damage_->report(what, offset);
  }

 private:
  bool inside(HeapRef ref, std::size_t words) const {
    return offset_of(ref) >= first_offset_ && chain_.holds(offset_of(ref), words);
  }

  Chain chain_;
  HeapDamage* damage_;
  std::uint64_t first_offset_;
};

}  // namespace ingot::replication_view_heap
