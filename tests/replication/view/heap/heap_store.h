// The least store that uses all of a heap: versions of keys, tombstones that are unlinked in two stages, a directory
// node with words of its own, pins. Its state at each root is also in a map, which knows nothing of the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/reader.h"
#include "tests/replication/view/heap/killed_run.h"

namespace ingot::test {

inline constexpr std::size_t kMovingKeys = 4;      // of those in the table: their words move, as at a split of buckets
inline constexpr std::size_t kTableKeys = 10;      // keys whose word is in the table
inline constexpr std::size_t kDirectoryKeys = 6;   // keys whose word is in the directory node
inline constexpr std::size_t kKeys = kTableKeys + kDirectoryKeys;
inline constexpr std::uint16_t kUnlink = 1;

inline constexpr std::uint8_t kVersionKind = 1;
inline constexpr std::uint8_t kDirectoryKind = 2;
inline constexpr std::uint8_t kTombstoneFlag = 1;

// A version's content: revision, key, previous version, words of the value, the value.
inline constexpr std::size_t kVersionWords = 4;
inline constexpr std::uint64_t kValueWordsMax = kHeapNodeBytesMax / kWordBytes - kNodeHeaderWords - kVersionWords;
inline constexpr NodeWords kDirectoryWords{.first = 1, .count = kDirectoryKeys};

struct Scalars {
  std::uint64_t revision = 0;
  std::uint64_t directory = 0;  // HeapRef
  std::uint64_t splits = 0;     // moves so far
  std::uint64_t moved = 0;      // by moving key, a bit: its word is the second one
};

// By key: the revision of its newest change that is not a deletion.
using Revisions = std::map<std::size_t, std::uint64_t>;

std::string to_text(const Revisions& revisions);

// What a reader sees at the root it begins at; it follows newer versions back to that root's revision. "" if it does
// not count. `number` gets the root's, if there is one.
std::string read_store(std::span<const std::byte> memory, std::optional<std::uint64_t>& number);

// The same at the revision of a pinned root, although newer roots exist, without a check of the mark. "": a word has
// moved since. REQUIRES: the root is pinned.
std::string read_pinned(HeapReader& reader, const HeapRoot& root);

// One incarnation of the writer, over a heap that it created or adopted. All randomness is from `prng`.
class StoreWriter {
 public:
  StoreWriter(Heap& heap, Prng& prng) : heap_(heap), prng_(prng) {}

  // For a new chain: the first directory, and its root. False: damage.
  bool begin(std::uint64_t now_ms);

  // A batch of some changes, without its root. The state that the root will have is added to `states`, by its number.
  void change(std::map<std::uint64_t, Revisions>& states);
  // A batch that reclaims, without its root; false: there was nothing to reclaim.
  bool reclaim(std::uint64_t now_ms, std::map<std::uint64_t, Revisions>& states);

 private:
  std::uint64_t word_of(std::size_t key);
  NodeKind version(HeapRef ref, std::size_t& key);
  void put(std::size_t key, bool deletes);
  void replace_directory();
  void move(std::size_t key);
  void unlink(const Retired& retired);

  Heap& heap_;
  Prng& prng_;
};

// What is wrong with the allocator's books: allocated = reached + retired, exactly; lists and counts are in order.
// Empty: nothing.
std::string check_books(Heap& heap, std::span<const std::byte> memory);

}  // namespace ingot::test
