// The least store on an ordered tree: keys that are put, deleted and unlinked in two stages. Its state at each root is
// also in a set, which knows nothing of the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/reader.h"
#include "replication/view/index/tree.h"
#include "tests/replication/view/heap/books.h"

namespace ingot::test {

inline constexpr std::uint16_t kUnlinkKey = 1;

struct TreeScalars {
  std::uint64_t revision = 0;
  TreeRoot tree;
};

// In the head of a key node, in place of a version: the revisions that put the key and that deleted it. 0: not deleted.
struct KeyLife {
  std::uint32_t put = 0;
  std::uint32_t deleted = 0;

  std::uint64_t content() const { return put | std::uint64_t{deleted} << 24; }
  static KeyLife from(std::uint64_t content) {
    return {static_cast<std::uint32_t>(content & 0xffffff), static_cast<std::uint32_t>(content >> 24)};
  }
  bool visible(std::uint64_t revision) const { return put <= revision && (deleted == 0 || deleted > revision); }
};

// Different keys in ascending order, of one shape that is drawn: ascending numbers, long common prefixes, each one a
// prefix of the next, any bytes, one byte, or some of each; up to `bytes_max` bytes.
std::vector<std::string> draw_keys(Prng& prng, std::size_t count, std::size_t bytes_max);

// Visible keys, by their indices.
using VisibleKeys = std::set<std::size_t>;
std::string to_text(const VisibleKeys& keys);

// The keys that are visible at a root, found forwards, backwards, and from some key on that the seed draws; or what is
// wrong with them. `keys` are all that there may be.
std::string read_tree(const NodeSource& nodes, const TreeScalars& root, const std::vector<std::string>& keys,
                      std::uint64_t seed);

// The same for a reader, at the newest root. "": it does not count. `number` gets the root's, if there is one.
std::string read_newest_tree(std::span<const std::byte> memory, const HeapIdentity& identity,
                             const std::vector<std::string>& keys, std::uint64_t seed,
                             std::optional<std::uint64_t>& number);

// One incarnation of the writer.
class TreeWriter {
 public:
  TreeWriter(Heap& heap, const std::vector<std::string>& keys);

  // The key is there; false: it is already, it waits to be unlinked, or there is no room. Neither publishes.
  bool put(std::size_t key);
  bool erase(std::size_t key);
  // A batch that reclaims; false: there is nothing to reclaim.
  bool reclaim(std::uint64_t now_ms);

  VisibleKeys visible() const;
  OrderedTree& tree() { return tree_; }
  void save() { heap_.set_user(scalars_); }  // before each root

 private:
  void unlink(const Retired& retired);

  Heap& heap_;
  const std::vector<std::string>& keys_;
  TreeScalars scalars_;
  OrderedTree tree_;
  std::map<std::size_t, HeapRef> nodes_;  // of keys in the tree
};

// What is wrong with the tree's nodes: order, levels, fences, prefixes, tags, heads, missing children, numbers. Empty:
// nothing. `reached` gets all nodes that belong to it, keys included.
std::string check_tree(const NodeSource& nodes, const TreeRoot& root, Reached& reached);

// The same, and allocated = reached + retired. REQUIRES: the batch is fresh.
std::string check_tree_books(Heap& heap, std::span<const std::byte> memory);

}  // namespace ingot::test
