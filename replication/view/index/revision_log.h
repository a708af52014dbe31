// The log: all changes in the order of their revisions. An entry is a word that leads to the change's version.
//
// Entries are counted from 0 and lie in chunks of 504, which a directory finds. Appending stores behind the end that
// the root names, so it needs no undo. Three more numbers lead through the log: freed <= cut <= end.
//
//   cut     the first entry above the compacted revision
//   freed   what entries before it have superseded is retired
//
// Content of a chunk, in words: its first entry's number, that entry's revision; what all entries before it have
// dropped: shares, versions, bytes; then 504 words: HeapRef of the version, 32 bits; the lowest of its revision, 16.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "replication/view/heap/heap.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/index/directory.h"
#include "replication/view/index/limits.h"
#include "replication/view/index/version_node.h"

namespace ingot::inline replication_view_index {

inline constexpr std::size_t kLogChunkEntries = kSmallNodes ? 6 : 504;

// Versions, as sums: what they add to the digest, how many they are, and the bytes of their keys and values.
struct VersionSum {
  std::uint64_t share = 0;
  std::uint64_t versions = 0;
  std::uint64_t bytes = 0;

  VersionSum& operator+=(const VersionSum& other) {
    share += other.share;
    versions += other.versions;
    bytes += other.bytes;
    return *this;
  }
  friend VersionSum operator-(const VersionSum& a, const VersionSum& b) {
    return {a.share - b.share, a.versions - b.versions, a.bytes - b.bytes};
  }
  bool operator==(const VersionSum&) const = default;
};
inline VersionSum sum_of(const VersionFields& version, std::size_t key_bytes) {
  return {version.share, 1, key_bytes + version.value_bytes};
}

// The log's part of a root. What an entry drops are the versions that no read needs once that entry is compacted: the
// one it supersedes, and itself if it is a tombstone.
struct LogRoot {
  DirectoryRoot chunks;
  std::uint64_t end = 0;
  std::uint64_t cut = 0;
  std::uint64_t freed = 0;
  VersionSum dropped_at_end;  // by all entries
  VersionSum dropped_at_cut;  // by those before the cut
  bool operator==(const LogRoot&) const = default;
};

// An entry.
struct LogEntry {
  HeapRef version;
  std::uint16_t revision = 0;  // the low bits
};

// The writer's. Not thread-safe.
class RevisionLog {
 public:
  // `root` is part of the next root.
  RevisionLog(Heap& heap, LogRoot& root) : heap_(heap), root_(root), directory_(heap, root.chunks) {}

  // False: there is no memory for it, or damage. REQUIRES: kRoom was asked for; revisions never descend.
  [[nodiscard]] bool append(HeapRef version, StoreRevision revision, const VersionSum& dropped);
  static constexpr std::uint64_t kRoom = 5 * kHeapNodeBytesMax;  // a chunk and directory nodes

  // Removes the last entry, and returns it; nothing: damage. What it dropped is for the caller to subtract. REQUIRES:
  // cut < end; the next entry has the same revision or a higher one.
  std::optional<LogEntry> take_back();

  // Moves the cut behind all entries up to a revision. False: damage. Takes a step for each entry of a chunk at most.
  [[nodiscard]] bool cut(StoreRevision compacted);

  // Entry root.freed is freed: its chunk is retired with its last one. REQUIRES: freed < cut.
  void pass();

  // Entry `number`; nothing: garbage, or damage. REQUIRES: freed <= number < end.
  static std::optional<LogEntry> at(const NodeSource& source, const LogRoot& root, std::uint64_t number);

  // The first entry from the cut on whose revision is not below that one; root.end if there is none. Nothing: garbage.
  static std::optional<std::uint64_t> first_from(const NodeSource& source, const LogRoot& root,
                                                 StoreRevision revision);

  // What an entry with that version drops; nothing: garbage. REQUIRES: the entry is not before the cut.
  static std::optional<VersionSum> dropped_by(const NodeSource& source, const VersionNode& version);

  // Calls visit(HeapRef) for each chunk and node of the directory. False: damage. For the books in tests.
  template <typename Visit>
  static bool for_each_node(const NodeSource& source, const LogRoot& root, Visit visit);

 private:
  struct Chunk {
    std::uint64_t first = 0;
    StoreRevision revision = 0;
    VersionSum dropped;
  };
  static std::optional<Chunk> read_chunk(const NodeSource& source, const LogRoot& root, std::uint64_t number);
  static std::optional<StoreRevision> revision_of(const NodeSource& source, const LogRoot& root, std::uint64_t number);
  bool add_chunk(StoreRevision revision);

  Heap& heap_;
  LogRoot& root_;
  Directory directory_;
  HeapRef last_;  // the chunk with the last entry; none: not looked for yet
};

template <typename Visit>
bool RevisionLog::for_each_node(const NodeSource& source, const LogRoot& root, Visit visit) {
  const std::uint64_t first = root.freed / kLogChunkEntries;
  for (std::uint64_t number = first; number < root.chunks.count; ++number) {
    const auto chunk = Directory::at(source, root.chunks, number);
    if (!chunk) return false;
    visit(*chunk);
  }
  return Directory::for_each_node(source, root.chunks, first, visit);
}

}  // namespace ingot::replication_view_index
