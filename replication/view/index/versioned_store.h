// All versions of all keys, on a heap: what the key-value store keeps, published with each root.
//
// Changes come in the order of their revisions, some in each batch. A batch ends with publish(); what a process did
// since then is undone when it dies. Other processes read by StoreReader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "replication/view/heap/heap.h"
#include "replication/view/index/hash_index.h"
#include "replication/view/index/key_node.h"
#include "replication/view/index/revision_log.h"
#include "replication/view/index/store_root.h"
#include "replication/view/index/store_view.h"
#include "replication/view/index/tree.h"
#include "replication/view/index/version_node.h"

namespace ingot::inline replication_view_index {

// Where a change has its place: revisions ascend, `sub` within one.
struct ChangeAt {
  StoreRevision revision = 0;
  std::uint32_t sub = 0;
};

enum class StoreRoom : std::uint8_t {
  kYes,
  kPublishFirst,  // this batch has changed as much as one batch may
  kFull,          // no memory, until something is compacted, freed and reclaimed
};

// The writer. Not thread-safe. A call that returns false has found damage: status() says what and where, and nothing is
// published any more. What callers know of keys they have read here, so a change that cannot be is taken for damage,
// too.
class VersionedStore {
 public:
  // Goes on from the heap's last root; a heap without one of the store's gets an empty store. `heap` outlives it.
  explicit VersionedStore(Heap& heap);
  VersionedStore(const VersionedStore&) = delete;
  VersionedStore& operator=(const VersionedStore&) = delete;

  absl::Status status() const { return heap_.status(); }

  // ---- Changes ----

  // Asked before each change. `value_bytes` is 0 for a deletion.
  StoreRoom room(std::size_t key_bytes, std::size_t value_bytes) const;

  // REQUIRES: room() == kYes; `at` is above all earlier changes; the key has no change at that revision yet.
  [[nodiscard]] bool put(std::string_view key, std::string_view value, ChangeAt at, std::int64_t lease = 0);
  // REQUIRES: the same, and the key exists.
  [[nodiscard]] bool erase(std::string_view key, ChangeAt at);

  // Takes back the newest change; `revision` is the store's before it. REQUIRES: nothing was compacted, freed or
  // reclaimed since; room(0, 0) == kYes.
  [[nodiscard]] bool take_back(StoreRevision revision);

  // Removes what no read at or above a revision needs, at once; its memory is freed by free_some(). REQUIRES: compacted
  // < revision <= the store's.
  [[nodiscard]] bool compact(StoreRevision revision);

  // Ends the batch. False: damage.
  [[nodiscard]] bool publish(std::uint64_t now_ms);

  // ---- Beside changes: memory ----

  // Retires what up to `entries` entries of the log have superseded, as far as one batch may. True: more is left.
  bool free_some(std::size_t entries);

  // Reclaims what was retired long enough ago. REQUIRES: the batch is fresh; publish() follows. 0: there is nothing.
  std::size_t reclaim(std::uint64_t now_ms);

  // ---- Reading ----

  // The version of a key in force at a revision; kGarbage is damage. REQUIRES: compacted <= revision.
  VersionFound get(std::string_view key, StoreRevision revision, VersionNode& found);

  // All other reads, at the newest state; it ends with the next change.
  StoreView view() const { return {heap_.nodes(), root_}; }
  const StoreRoot& root() const { return root_; }

 private:
  bool change(std::string_view key, std::string_view value, VersionFields& fields);
  bool supersede(VersionFields& fields, HeapRef newest_ref, const VersionFields& newest);
  void unlink(const Retired& retired);
  bool forget(HeapRef ref, const KeyNode& key);

  Heap& heap_;
  StoreRoot root_;  // of the next root
  HashIndex hash_;
  OrderedTree tree_;
  RevisionLog log_;
};

}  // namespace ingot::replication_view_index
