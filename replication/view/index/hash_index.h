// Finds a key's node by the key's hash: linear hashing, whose buckets are words that change in place.
//
// A bucket is a line: seven words for keys, and one for a bucket behind it, a node of its own, if that is not enough.
// 63 buckets are a segment, a node of 4,096 bytes; a directory finds segments. With b buckets, 2^n <= b < 2^(n+1), a
// hash belongs to bucket `hash mod 2^(n+1)` if there is such a one, otherwise to `hash mod 2^n`. When there are more
// than five keys a bucket, one bucket is split in two: bucket b is made of one that exists.
//
// A split takes words away that a reader may look for. So it first sets the word "splits begun". A reader that misses a
// key at a root with another count of splits knows nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "replication/view/heap/heap.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/heap/walk_guard.h"
#include "replication/view/index/directory.h"
#include "replication/view/index/limits.h"

namespace ingot::inline replication_view_index {

inline constexpr std::size_t kBucketKeys = 7;
inline constexpr std::size_t kBucketWords = kBucketKeys + 1;  // the last one: the bucket behind it
inline constexpr std::size_t kSegmentBuckets = kSmallNodes ? 3 : 63;
inline constexpr std::uint64_t kFirstBuckets = 2;
inline constexpr std::uint64_t kKeysPerBucket = 5;

// The index's part of a root.
struct HashRoot {
  DirectoryRoot segments;
  std::uint64_t buckets = 0;
  std::uint64_t splits = 0;  // so far
  std::uint64_t keys = 0;
  bool operator==(const HashRoot&) const = default;
};

// The writer's. Not thread-safe.
class HashIndex {
 public:
  // `root` is part of the next root.
  HashIndex(Heap& heap, HashRoot& root) : heap_(heap), root_(root), directory_(heap, root.segments) {}

  // In a new chain: makes the first buckets. False: there is no memory for them.
  [[nodiscard]] bool create();

  // The key's node, none if there is none; nothing: damage.
  std::optional<HeapRef> find(std::string_view key, std::uint32_t hash);

  // Adds a key's node. False: there is no memory for it, or damage. REQUIRES: find() did not find the key; kRoom and
  // kWords were asked for.
  [[nodiscard]] bool insert(HeapRef key, std::uint32_t hash);
  // What an insertion needs at most, in bytes of nodes and in words noted: a segment, directory nodes, buckets behind
  // the one that is split.
  static constexpr std::uint64_t kRoom = 16 * kHeapNodeBytesMax;
  static constexpr std::size_t kWords = 1024;

  // REQUIRES: the key's node is in the index.
  void erase(HeapRef key, std::uint32_t hash);

  // For readers: the key's node, none if it is in no bucket of that root's; nothing: garbage, or more than kStepsMax
  // buckets, one behind the other.
  static std::optional<HeapRef> find(const NodeSource& source, const HashRoot& root, std::string_view key,
                                     std::uint32_t hash);
  static constexpr std::uint64_t kStepsMax = 1000;
  // Whether a miss at that root counts: no split has taken away what the root's buckets had.
  static bool miss_counts(const NodeSource& source, const HashRoot& root);

  // Calls visit(HeapRef) for each segment, directory node and bucket behind another, and visit_key(key's HeapRef,
  // bucket) for each key. False: damage. For the books in tests.
  template <typename Visit, typename VisitKey>
  static bool for_each_node(const NodeSource& source, const HashRoot& root, Visit visit, VisitKey visit_key);

  static std::uint64_t bucket_of(std::uint64_t buckets, std::uint32_t hash);

 private:
  using Bucket = std::array<std::uint64_t, kBucketWords>;  // words, or their contents
  struct Place {
    std::uint64_t offset;  // of the first word
    HeapRef node;          // none: it lies in a segment
    Bucket contents;
  };

  // A bucket that so many others are behind is not split: the hashes of its keys are chosen, and its words are too many
  // for a batch.
  static constexpr std::size_t kSplitChainMax = 64;

  static std::uint64_t content(HeapRef key, std::uint32_t hash) {
    return key.value() | std::uint64_t{hash >> 16} << 32;
  }
  static HeapRef ref_in(std::uint64_t content) { return HeapRef(static_cast<std::uint32_t>(content)); }
  static std::uint64_t first_word(HeapRef segment, std::uint64_t bucket) {
    return offset_of(segment) + (1 + bucket % kSegmentBuckets) * kBucketWords * kWordBytes;
  }
  static std::optional<HeapRef> find_from(const NodeSource& source, std::uint64_t first, std::string_view key,
                                          std::uint32_t hash, std::uint64_t steps_max);
  static std::uint32_t likely(const Bucket& words, std::uint32_t hash);
  static bool read(const NodeSource& source, std::uint64_t first, Bucket& contents);

  std::optional<std::uint64_t> place(std::uint64_t bucket);
  bool read_chain(std::uint64_t bucket);
  std::optional<HeapRef> add_behind(std::span<const std::uint64_t> keys);
  bool add_segment();
  bool split();
  bool goes_up(std::uint64_t content, int level);
  bool fill(std::uint64_t bucket, std::span<const std::uint64_t> keys);
  void pull_up();

  Heap& heap_;
  HashRoot& root_;
  Directory directory_;
  std::vector<HeapRef> segments_;  // by number, as far as they were looked for; none: not yet
  std::vector<Place> chain_;       // what read_chain() has read
};

template <typename Visit, typename VisitKey>
bool HashIndex::for_each_node(const NodeSource& source, const HashRoot& root, Visit visit, VisitKey visit_key) {
  for (std::uint64_t bucket = 0; bucket < root.buckets; ++bucket) {
    const auto segment = Directory::at(source, root.segments, bucket / kSegmentBuckets);
    if (!segment) return false;
    if (bucket % kSegmentBuckets == 0) visit(*segment);
    Bucket contents;
    std::uint64_t first = first_word(*segment, bucket);
    for (WalkGuard guard;;) {
      if (guard.leads_back(first) || !read(source, first, contents)) return false;
      for (std::size_t i = 0; i < kBucketKeys; ++i) {
        if (contents[i] != 0) visit_key(ref_in(contents[i]), bucket);
      }
      if (contents.back() == 0) break;
      visit(ref_in(contents.back()));
      first = content_offset(ref_in(contents.back()));
    }
  }
  return Directory::for_each_node(source, root.segments, 0, visit);
}

}  // namespace ingot::replication_view_index
