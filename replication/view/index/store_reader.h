// Reads of the store by another process than its writer's: at the newest root, without a lock and without a word to the
// writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "replication/view/heap/reader.h"
#include "replication/view/index/store_view.h"

namespace ingot::inline replication_view_index {

enum class StoreAnswer : std::uint8_t {
  kFound,
  kNone,     // there is no such key, or no event
  kAgain,    // the writer was faster, or another incarnation has begun: begin() again
  kDamaged,  // the root leads to what cannot be so: only its writer can end that
};

// What was read, copied.
struct StoredVersion {
  VersionFields fields;
  std::string value;
};
struct StoredEvent {  // or a key of a range
  std::string key;
  StoredVersion version;
};

// Not thread-safe; one for each thread. Whatever the memory's bytes, no call reads outside of it or fails to end.
class StoreReader {
 public:
  // `memory` outlives the reader. Errors: as check_identity.
  static absl::StatusOr<StoreReader> open(std::span<const std::byte> memory, const HeapIdentity& identity);

  // Takes the newest root, for the reads that follow. False: there is none yet, an adopter is putting words back, or
  // the writer was faster; later again.
  bool begin();

  // Of that root. REQUIRES: begin() was true, for this and all below.
  const HeapRoot& heap_root() const { return heap_root_; }
  const StoreRoot& root() const { return view_->root(); }

  // The version of a key in force at a revision. REQUIRES: compacted <= revision <= the root's.
  StoreAnswer get(std::string_view key, StoreRevision revision, StoredVersion& found);

  // Up to `most` keys from `begin` on, and below `end` unless it is none, that exist at a revision. REQUIRES: the same.
  StoreAnswer range(std::string_view begin, std::optional<std::string_view> end, StoreRevision revision,
                    std::size_t most, std::vector<StoredEvent>& found);

  // Up to `most` changes from a revision on, oldest first. REQUIRES: compacted < revision.
  StoreAnswer events(StoreRevision revision, std::size_t most, std::vector<StoredEvent>& found);

 private:
  // After so many misses in a row that splits of buckets made uncertain, the tree is asked.
  static constexpr int kMissesMax = 3;

  explicit StoreReader(HeapReader heap) : heap_(heap) {}
  StoreAnswer answer(bool whole, bool any) const;
  VersionFound look_up(HeapRef key, StoreRevision revision, StoredVersion& found) const;

  HeapReader heap_;
  int misses_ = 0;
  HeapRoot heap_root_;
  std::optional<StoreView> view_;
};

}  // namespace ingot::replication_view_index
