// A root: the scalars and first references of one published state.
//
// A cell is 64 words: the check, the root's own words (RootScalars), the users' words. The cell that is not in force is
// filled, then the root number is stored with release. So a kill leaves the former root or the new one, and a cell that
// a reader copies while it is overwritten does not check.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "replication/view/heap/chain.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/limits.h"

namespace ingot::inline replication_view_heap {

// The allocator's and the retire queue's part of a root.
struct RootScalars {
  std::uint64_t number = 0;       // of the batch that this root ends; the first one is 1
  std::uint64_t tag = 0;          // of that batch's undo entries
  std::uint64_t incarnation = 0;  // that published it
  std::uint64_t extents_begun = 0;  // extents from here on were never used
  std::uint64_t extents_empty = 0;  // below that, in the list of empty ones
  std::uint64_t bytes_used = 0;     // of all nodes that are allocated, retired ones included
  std::uint64_t retire_begin = 0;   // entries of the retire queue, counted from its first one ever
  std::uint64_t retire_end = 0;
  std::uint64_t retire_first = 0;  // HeapRef of the chunk with the entry retire_begin
  std::uint64_t retire_last = 0;   // HeapRef of the last chunk; 0 if there is none
  std::uint64_t bytes_retired = 0;
  std::uint64_t user_words = 0;
  bool operator==(const RootScalars&) const = default;
};
inline constexpr std::size_t kRootScalarWords = sizeof(RootScalars) / kWordBytes;
static_assert((1 + kRootScalarWords + kRootUserWordsMax) * kWordBytes <= kRootCellBytes);

struct HeapRoot {
  RootScalars heap;
  std::array<std::uint64_t, kRootUserWordsMax> user{};  // heap.user_words of them count

  // The users' words as a struct of theirs, and back. T has no padding that they care about.
  template <typename T>
  T user_as() const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % kWordBytes == 0);
    static_assert(sizeof(T) <= kRootUserWordsMax * kWordBytes);
    std::array<std::uint64_t, sizeof(T) / kWordBytes> words;
    std::copy_n(user.begin(), words.size(), words.begin());
    return std::bit_cast<T>(words);
  }
  template <typename T>
  void set_user(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % kWordBytes == 0);
    static_assert(sizeof(T) <= kRootUserWordsMax * kWordBytes);
    std::memcpy(user.data(), &value, sizeof value);
    heap.user_words = sizeof value / kWordBytes;
  }
};

// The two cells and the number. One writer; readers have a RootCells of their own.
class RootCells {
 public:
  explicit RootCells(Chain chain) : chain_(chain) {}

  // Publishes the root under its number. REQUIRES: the number is one more than that of the last one.
  void publish(const HeapRoot& root);

  // The root with that number; nothing: its cell is another root's, is being overwritten, or is damaged.
  std::optional<HeapRoot> read(std::uint64_t number) const;

 private:
  static std::uint64_t cell(std::uint64_t number);

  Chain chain_;
};

// What such a counter says; nothing: it is damaged. Offsets: number, mark, incarnation, undo tag, splits begun.
std::optional<std::uint64_t> read_counter(const Chain& chain, std::uint64_t offset);

}  // namespace ingot::replication_view_heap
