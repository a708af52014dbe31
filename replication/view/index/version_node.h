// Version nodes: a key's value, or its deletion, since one revision. Written once; a newer one refers to it.
//
// Content, in words:
//   0  u64 share of the digest
//   1  i64 revision
//   2  i64 of version 1: the revision of the tombstone before it, 0 if there is none; otherwise: the create revision
//   3  i64 version: 1 for the first since creation, 0 for a tombstone
//   4  u32 sub: its place among the changes of its revision; u32 bytes of the value
//   5  HeapRef previous version of the key, HeapRef key
//      if there is one: i64 lease
//      if there is one: the jump. i64 revision, HeapRef of an earlier version; u32 distance
//      the value, with zeros behind; or the references of its pieces, if it is longer than kValueBytesInNode
//
// The depth in the node's header counts a key's versions modulo kJumpEvery.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/rule.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/index/limits.h"

namespace ingot::inline replication_view_index {

using StoreRevision = std::int64_t;

// Each kJumpEvery-th version of a key leads to an earlier one of these, so that an old revision of a key with a million
// versions is some 50 steps away: Myers' skip list with one pointer. The distance is counted in such versions.
inline constexpr std::uint16_t kJumpEvery = kSmallNodes ? 3 : 16;
struct VersionJump {
  StoreRevision revision = 0;
  HeapRef version;  // none: there is no jump
  std::uint32_t distance = 0;
};

// All of a version but its value.
struct VersionFields {
  std::uint64_t share = 0;
  StoreRevision revision = 0;
  StoreRevision created_or_before = 0;
  std::int64_t version = 0;
  std::uint32_t sub = 0;
  std::uint32_t value_bytes = 0;
  HeapRef previous;
  HeapRef key;
  std::int64_t lease = 0;
  VersionJump jump;
  std::uint16_t depth = 0;
  bool previous_in_pieces = false;  // the previous version's value is long

  bool tombstone() const { return version == 0; }
  StoreRevision created() const { return version == 1 ? revision : tombstone() ? 0 : created_or_before; }
  // Whether a version before this one was in force at a revision below this one's. If so, `previous` leads to it.
  bool has_predecessor_at(StoreRevision at) const;
  // Whether the version before this one is certainly there: what was superseded at or below `compacted` may be gone.
  bool keeps_predecessor(StoreRevision compacted) const;
  // Whether the jump leads to a version that is above a revision, too.
  bool jumps_above(StoreRevision at) const;
  // What the digest sums up: the same on every replica.
  std::uint64_t share_of(std::string_view key, std::string_view value) const;
};

inline bool VersionFields::has_predecessor_at(StoreRevision at) const {
  return previous != HeapRef() && (version != 1 || created_or_before > at || !INGOT_RULE("before-compared"));
}

inline bool VersionFields::keeps_predecessor(StoreRevision compacted) const {
  return has_predecessor_at(compacted) && (revision > compacted || !INGOT_RULE("predecessors-kept"));
}

inline bool VersionFields::jumps_above(StoreRevision at) const {
  return jump.version != HeapRef() && (jump.revision > at || !INGOT_RULE("jumps-above"));
}

// A copy of a version node: 4 KiB, for the stack. Not thread-safe.
class VersionNode {
 public:
  // False: no such version lies there, which is damage if `source` is the writer's. `revision_tag` has the low bits of
  // its revision, as the word that leads to it does.
  bool read(const NodeSource& source, HeapRef ref, std::optional<std::uint16_t> revision_tag = {});

  // Reads the version before `later` of its key, or the one that its jump leads to; false: the same. At each such step
  // (revision, sub) falls, and the depth by one unless it is a jump: so a walk ends, whatever leads on. REQUIRES: there
  // is one.
  enum class Step : std::uint8_t { kPrevious, kJump };
  bool read_earlier(const NodeSource& source, VersionFields later, Step step);

  const VersionFields& fields() const { return fields_; }
  HeapRef ref() const { return ref_; }
  bool in_pieces() const { return fields_.value_bytes > kValueBytesInNode; }

  // The value. `scratch` holds it if it is in pieces; otherwise the view ends with this copy. Nothing: a piece is no
  // piece.
  std::optional<std::string_view> value(const NodeSource& source, std::string& scratch) const;

  // Retires the node's pieces and the node. REQUIRES: it was read from that heap, and no word leads to it.
  void retire(Heap& heap) const;

 private:
  bool take_fields(std::size_t words);
  std::span<const std::uint64_t> value_words() const;

  HeapRef ref_;
  VersionFields fields_;
  std::size_t words_ = 0;  // of the node
  std::array<std::uint64_t, kHeapNodeBytesMax / kWordBytes> image_;
};

// Writes a version and the pieces of its value. Nothing: there is no memory for it, or damage. REQUIRES: version_room
// was asked for; fields.value_bytes == value.size() <= kStoredBytesMax.
std::optional<HeapRef> add_version(Heap& heap, const VersionFields& fields, std::string_view value);

// Bytes of nodes that a version takes at most, for Heap::has_room.
std::size_t version_room(std::size_t value_bytes);

// The version of a key in force at a revision, tombstones included: the newest one that is not above it.
enum class VersionFound : std::uint8_t { kFound, kNone, kGarbage };
VersionFound find_version(const NodeSource& source, HeapRef key, StoreRevision revision, VersionNode& found);

// The jump of the version that follows `newest` of the same key, if it gets one. Nothing: damage. Versions that were
// superseded at or below `compacted` may be gone.
std::optional<VersionJump> next_jump(const NodeSource& source, const VersionFields& newest, HeapRef newest_ref,
                                     StoreRevision compacted);

}  // namespace ingot::replication_view_index
