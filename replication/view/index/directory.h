// A list of nodes by number, as a tree of nodes with 504 words each: segments of the hash index, chunks of the log.
//
// It grows at the end, behind what a root names, so that needs no undo; an entry never changes. Its height follows from
// its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "replication/view/heap/heap.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/index/limits.h"

namespace ingot::inline replication_view_index {

inline constexpr std::size_t kDirectoryFanOut = kSmallNodes ? 3 : 504;

// Its part of a root.
struct DirectoryRoot {
  std::uint64_t top = 0;    // HeapRef
  std::uint64_t count = 0;  // entries so far, dropped ones included
  bool operator==(const DirectoryRoot&) const = default;
};

// The writer's. Not thread-safe.
class Directory {
 public:
  // `root` is part of the next root.
  Directory(Heap& heap, DirectoryRoot& root) : heap_(heap), root_(root) {}

  // Adds entry number root.count. False: there is no memory for it, or damage.
  [[nodiscard]] bool append(HeapRef ref);

  // The entry `number` and all before it are needed no more; retires the nodes that have no others. REQUIRES: all
  // before it were dropped one after the other.
  void drop(std::uint64_t number);

  // REQUIRES: number < root.count, and it was not dropped. Nothing: garbage, or damage.
  static std::optional<HeapRef> at(const NodeSource& source, const DirectoryRoot& root, std::uint64_t number);

  // The nodes that lead to entry `number`, from the lowest up, as drop() counts them: for the books in tests.
  template <typename Visit>
  static bool for_each_node(const NodeSource& source, const DirectoryRoot& root, std::uint64_t first, Visit visit);

 private:
  static std::uint64_t entries_below(int level);
  static int height(std::uint64_t count);
  static std::optional<HeapRef> node_above(const NodeSource& source, const DirectoryRoot& root, std::uint64_t number,
                                           int level);
  std::optional<HeapRef> add_node();

  Heap& heap_;
  DirectoryRoot& root_;
};

// Calls visit(HeapRef) for each node of the directory when all entries before `first` are dropped. False: damage.
template <typename Visit>
bool Directory::for_each_node(const NodeSource& source, const DirectoryRoot& root, std::uint64_t first, Visit visit) {
  for (int level = 1; level <= height(root.count); ++level) {
    const std::uint64_t below = entries_below(level);
    for (std::uint64_t begin = first / below * below; begin < root.count; begin += below) {
      const auto node = node_above(source, root, begin, level);
      if (!node) return false;
      visit(*node);
    }
  }
  return true;
}

}  // namespace ingot::replication_view_index
