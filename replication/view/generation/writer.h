// The one writer of a generation: all keys of a store at their newest versions, as much of the past as readers may
// still look at, and the log of the last changes (docs/design/views.md).
//
// A new generation is loaded: apply() for each key, in ascending order if possible, and publish(). Then batches of
// changes follow, and a root after each, at a whole revision. Readers see roots alone.
//
// A generation is never repaired: when there is no space, or the writer dies, it stays readable at its last root, and
// another generation takes its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/view/generation/view_log.h"
#include "replication/view/generation/hash_index.h"
#include "replication/view/generation/nodes.h"
#include "replication/view/generation/ordered_index.h"

namespace ingot::inline replication_view_generation {

// A key's state since a revision.
struct ViewChange {
  std::string_view key;
  std::string_view value = {};  // of no deletion
  bool deleted = false;
  ViewRevision revision = 0;  // from 1 on
  ViewRevision created = 0;   // these three as etcd's KeyValue has them
  std::int64_t version = 0;
  std::int64_t lease = 0;
};

struct WriterOptions {
  std::uint64_t seed = 0;           // of the hash: random, so that no client can choose keys that collide
  std::uint64_t expected_keys = 0;  // the hash index begins with space for them
  std::uint64_t identity = 0;       // of the state, and the generation's number: as its board has them
  std::uint64_t number = 0;
};

// Not thread-safe. The memory outlives it.
class GenerationWriter {
 public:
  // `memory`: zeros, whole pages. Errors: INVALID_ARGUMENT (fewer bytes than kGenerationBytesMin, more than
  // kGenerationBytesMax, more keys expected than would fit).
  static absl::StatusOr<std::unique_ptr<GenerationWriter>> create(std::span<std::byte> memory,
                                                                  const WriterOptions& options);

  // One change of the next root. Before the first root, keys are loaded: in any order, at any revision; a key's older
  // version is passed by. Afterwards revisions are above the last root's, and do not fall; a key may change several
  // times between two roots, and within a revision.
  //
  // Errors: INVALID_ARGUMENT (key or value too long, no key, revision too low), RESOURCE_EXHAUSTED (no space: this
  // writer publishes nothing any more; the last root stays).
  absl::Status apply(const ViewChange& change);

  // The changes that were applied since the last root become the next root. Uses retired memory again (limits.h).
  // `now_ms`: of a clock that never goes back. Errors: INVALID_ARGUMENT (below a revision that was applied or
  // published), RESOURCE_EXHAUSTED (as apply).
  absl::Status publish(ViewRevision revision, std::uint64_t now_ms);

  // Adds the keys from `begin` on, below `end` (empty: all), as they were applied.
  void list(std::string_view begin, std::string_view end, std::vector<std::string>& keys) const {
    tree_.list(begin, end, keys);
  }

  ViewRevision revision() const { return published_.revision; }
  std::uint64_t root_number() const { return number_; }
  std::uint64_t keys() const { return tree_.keys(); }

  // Bytes of the generation; what the newest root reaches; what is retired and not used again yet; what is free.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t live_bytes() const { return (space().allocated() - nodes_.retired_units()) * kUnitBytes; }
  std::uint64_t retired_bytes() const { return nodes_.retired_units() * kUnitBytes; }
  std::uint64_t free_bytes() const { return (space().units() - space().allocated()) * kUnitBytes; }
  // Whether a larger generation should take its place.
  bool nearly_full() const { return live_bytes() / kFullQuarters >= bytes_ / 4 || table_.cramped(); }

  // Readers of this generation learn that it is given up; then all but the first page may be punched. For any process
  // that may write to the memory, also while the writer goes on.
  static void mark_gone(std::span<std::byte> memory);

 private:
  GenerationWriter(std::span<std::byte> memory, const WriterOptions& options, std::uint8_t table_bits);

  const Space& space() const { return nodes_.space(); }
  bool loading() const { return number_ == 0; }
  absl::Status check(const ViewChange& change) const;
  absl::Status no_room() const;
  NodeRef add_version(const ViewChange& change, NodeRef previous);
  bool link(std::uint64_t hash, const TableSlot& slot, NodeRef version);
  void log(const ViewChange& change, std::uint64_t hash, NodeRef version, bool repeated);
  void store_root();
  void forget_tombstones();
  void reclaim(std::uint64_t now_ms);
  std::uint64_t version_words_at(NodeRef version) const;

  const std::uint64_t bytes_;
  const std::uint64_t seed_;
  Nodes nodes_;
  HashIndex table_;
  OrderedIndex tree_;
  ViewLog log_;
  RootFields published_;
  std::uint64_t number_ = 0;          // of the last root
  ViewRevision applied_revision_ = 0;  // the highest that was applied
  bool failed_ = false;
  std::deque<Tombstone> tombstones_;  // in the log, or superseded
  std::uint64_t tombstone_units_ = 0;
};

}  // namespace ingot::replication_view_generation
