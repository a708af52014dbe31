// The writer's nodes: written once in free units, retired when the next root does not reach them, and free again when
// the mark names the root before which they were retired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/shared_cell.h"
#include "replication/view/generation/layout.h"
#include "replication/view/generation/space.h"

namespace ingot::inline replication_view_generation {

// A deletion whose version stays in the hash index until the log has forgotten it.
struct Tombstone {
  std::uint64_t hash = 0;
  NodeRef version = 0;
  ViewRevision revision = 0;
  std::uint64_t log_end = 0;  // the position behind its entry in the log
  std::uint64_t units = 0;
};

// Not thread-safe. One writer, which reads its own memory without orders.
class Nodes {
 public:
  // The memory is zero.
  Nodes(std::span<std::byte> memory, std::uint64_t first_word);

  void store(std::uint64_t word, std::uint64_t value, std::memory_order order = std::memory_order_relaxed) {
    reinterpret_cast<SharedCell<std::uint64_t>*>(memory_.data())[word].store(value, order);
  }
  const std::uint64_t* at(NodeRef ref) const { return own(word_of(ref)); }
  const std::uint64_t* own(std::uint64_t word) const {
    return reinterpret_cast<const std::uint64_t*>(memory_.data()) + word;
  }
  // Of a version or a separator.
  std::string_view key_of(NodeRef ref) const;

  // Units for `words` words, with their former content; 0: there is no space. try_allocate() is for what the writer can
  // do without: if it fails, the generation does not count as full.
  NodeRef allocate(std::uint64_t words);
  NodeRef try_allocate(std::uint64_t words);
  // REQUIRES: nothing leads to it.
  void give_back(NodeRef ref, std::uint64_t words) { space_.free(ref, units_for(words)); }
  void write(NodeRef ref, std::span<const std::uint64_t> words);

  // A node, with these words, that only a root will lead to; drop() frees it at once if no root does so yet.
  NodeRef add(std::span<const std::uint64_t> words);
  void drop(NodeRef ref, std::uint64_t words);
  // Whether such a node was made since the last root: no reader sees it, so it may change.
  bool made_in_batch(NodeRef ref) const { return made_.contains(ref); }

  // No word that the next root reaches leads to the node.
  void retire(NodeRef ref, std::uint64_t words);
  // The log has forgotten a deletion: its version may leave the hash index, and counts as retired from then on.
  void retire_tombstone(const Tombstone& tombstone);

  // The batch has become this root.
  void published(std::uint64_t number, std::uint64_t now_ms);

  // Uses again what was retired, as the share and the grace in limits.h say. Returns the deletions whose versions are
  // to be unlinked and retired now. `number` is that of the newest root.
  std::vector<Tombstone> reclaim(std::uint64_t now_ms);
  std::uint64_t mark() const { return mark_; }

  const Space& space() const { return space_; }
  std::uint64_t retired_units() const { return retired_units_; }

 private:
  struct Block {
    NodeRef ref;
    std::uint32_t units;
  };
  // What the root before `number` reaches, and that one does not.
  struct Retired {
    std::uint64_t number = 0;
    std::uint64_t published_ms = 0;
    std::vector<Block> blocks;
    std::vector<Tombstone> tombstones;
  };

  NodeRef told(NodeRef ref);

  const std::span<std::byte> memory_;
  Space space_;
  absl::flat_hash_set<NodeRef> made_;
  Retired current_;
  std::deque<Retired> retired_;
  std::uint64_t retired_units_ = 0;
  std::uint64_t high_water_ = 0;  // as readers are told
  std::uint64_t mark_ = 0;
  bool any_root_ = false;
};

}  // namespace ingot::replication_view_generation
