// The memory of one replica's state: nodes that are written once, words that change in place with undo, and roots.
//
// A *batch* is what lies between two roots. A process that dies in a batch leaves the last root's state to the next
// incarnation, which adopts the memory in constant time. No program links this yet: docs/design/plans.md, "Views".
//
// What the structures above it keep to, in each change:
//   * First all nodes, then the words: a word is set when everything that it leads to is complete. Readers follow it at
//     once.
//   * What the next root no longer reaches is retired, not before it is unreached from the words.
//   * room first: has_room() and words_left() are asked before a change begins, since none can end in the middle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/view/heap/adoption.h"
#include "replication/view/heap/chain.h"
#include "replication/view/heap/damage.h"
#include "replication/view/heap/extents.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/heap/nodes.h"
#include "replication/view/heap/pins.h"
#include "replication/view/heap/retire.h"
#include "replication/view/heap/root.h"
#include "replication/view/heap/words.h"

namespace ingot::inline replication_view_heap {

// The one writer of a chain. Not thread-safe. Readers are HeapReaders, in any process.
//
// Content that cannot be so is never a failed check: the heap stops there, and status() says what and where.
class Heap {
 public:
  // Begins a chain in zero-filled memory, and publishes its first root, or takes over what a former incarnation left.
  // `memory` outlives the heap. Errors: as create_chain, as adopt_chain. `now_ms` counts from anywhere, here and below.
  static absl::StatusOr<std::unique_ptr<Heap>> create(std::span<std::byte> memory, const HeapIdentity& identity,
                                                      std::uint64_t now_ms);
  static absl::StatusOr<std::unique_ptr<Heap>> adopt(std::span<std::byte> memory, const HeapIdentity& identity,
                                                     std::uint64_t now_ms);

  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // DATA_LOSS: the replica starts from a peer.
  absl::Status status() const { return damage_.status(); }

  // ---- A batch ----

  // The number of the root that this batch will end with.
  std::uint64_t batch() const { return next_.heap.number; }

  // Memory for a node; nothing: none is left, or damage. REQUIRES: bytes <= kHeapNodeBytesMax, and the batch has not
  // reclaimed.
  std::optional<HeapRef> allocate(std::size_t bytes);

  // Writes an allocated node, once. `content` follows the header; the words in it are given as contents.
  void write(HeapRef ref, NodeKind kind, std::span<const std::uint64_t> content, NodeWords words = {}) {
    write_node(chain_, ref, kind, birth(), content, words);
  }

  // Both at once.
  std::optional<HeapRef> add(NodeKind kind, std::span<const std::uint64_t> content, NodeWords words = {}) {
    const auto ref = allocate(node_bytes(content.size()));
    if (ref) write(*ref, kind, content, words);
    return ref;
  }

  // A node of the writer's own, header included, as it is in memory; nothing, and damage: it lies outside the extents
  // or does not check.
  bool read(HeapRef ref, std::span<std::uint64_t> node, NodeWords words = {});

  // Words of the table and of nodes. A word's content is up to 48 bits; 0 is what it has at first. A word that lies
  // outside of the memory is damage, and has the content 0.
  std::uint64_t content(std::uint64_t offset);
  // REQUIRES: the offset is that of a word whose content was read.
  void set(std::uint64_t offset, std::uint64_t content) { words_.set_content(offset, content); }
  // The same without a check, 64 bits.
  std::uint64_t raw(std::uint64_t offset);
  void set_raw(std::uint64_t offset, std::uint64_t value) { words_.set(offset, value); }

  // Stores a word's content without undo. REQUIRES: no published root leads to that word, as behind the end of a list
  // that the root names. After a kill it has any content.
  void append(std::uint64_t offset, std::uint64_t content) { chain_.store(offset, checked_word(offset, content)); }

  // The same reads for code that readers share.
  const NodeSource& nodes() const { return nodes_; }

  // The next root no longer reaches that node. With a kind of the users' it is theirs to free: reclaim() hands it back.
  void retire(HeapRef ref, std::uint16_t kind = kRetiredNode);

  // Whether nodes of so many bytes in all, and as many retired ones, have room.
  bool has_room(std::uint64_t bytes) const {
    return extents_.extents_free() > kClasses + bytes / (kExtentBytes - kHeapNodeBytesMax);
  }
  std::size_t words_left() const { return words_.left(); }

  // The users' scalars of the next root, as the last one has them until they are changed.
  template <typename T>
  T user() const {
    return next_.user_as<T>();
  }
  template <typename T>
  void set_user(const T& value) {
    next_.set_user(value);
  }

  // Ends the batch, and begins the next one. False: something is damaged, and nothing is published.
  [[nodiscard]] bool publish(std::uint64_t now_ms);

  // ---- Roots ----

  const HeapRoot& published() const { return published_; }

  // Holds all that the last published root reaches.
  PinId pin() { return pins_.add(published_.heap.number); }
  void unpin(PinId id) { pins_.release(id); }
  bool pinned(PinId id) const { return pins_.holds(id); }
  void break_oldest_pin() { pins_.break_oldest(); }

  // ---- Memory ----

  // Frees up to kReclaimedMax retired nodes that are old enough and that no pin needs; 0: there are none. `hand_back`
  // gets those of the users' kinds, before any node of this batch is freed; it may allocate, retire and change
  // kHandedBackWordsMax words. Entries for which the undo log has no room wait for the next call. What is freed here is
  // allocated again in the next batch at the earliest. REQUIRES: the batch is fresh; publish() follows.
  std::size_t reclaim(std::uint64_t now_ms, absl::FunctionRef<void(const Retired&)> hand_back);

  const RootScalars& scalars() const { return next_.heap; }
  std::uint64_t extents() const { return extents_.extents(); }
  Extents& all_extents() { return extents_; }
  RetireQueue& retire_queue() { return retired_; }

 private:
  Heap(Chain chain, const Adopted& adopted, std::uint64_t now_ms);
  static absl::StatusOr<std::unique_ptr<Heap>> begin(Chain chain, const absl::StatusOr<Adopted>& adopted,
                                                     std::uint64_t now_ms);

  NodeBirth birth() const { return {static_cast<std::uint16_t>(incarnation_ / 2), next_.heap.number}; }
  void begin_batch();
  std::span<const Retired> reclaimable(std::uint64_t now_ms);
  std::size_t hand_back_all(std::span<const Retired> entries, absl::FunctionRef<void(const Retired&)> hand_back);
  void store_mark(std::uint64_t batch);
  void free_front(std::span<const Retired> entries);

  Chain chain_;
  const std::uint64_t incarnation_;
  HeapRoot published_;
  HeapRoot next_;
  HeapDamage damage_;
  const NodeSource nodes_;
  Words words_;
  Extents extents_;
  RetireQueue retired_;
  Pins pins_;
  BatchAges ages_;
  bool reclaiming_ = false;                       // this batch has freed nodes
  std::array<Retired, kReclaimedMax> reclaimed_;  // what reclaim() works on
};

}  // namespace ingot::replication_view_heap
