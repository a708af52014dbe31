// Words that change in place, each change undoable: the old value is in the undo log before the word changes.
//
// An entry of the log is 24 bytes:
//
//    0  u64 place     33 bits of the word's offset / 8, above them the low 31 bits of the batch's tag; stored last,
//                     with release
//    8  u64 old       the word's value at the batch's begin, or at a later change in the batch
//   16  u64 check     of place and old, seeded with the whole tag
//
// A tag is never used twice in a chain, so an adopter knows the entries of the batch that was being made from those of
// earlier ones, also of an adopter that died. It puts back the last one first; so a word may be noted more than once.
#pragma once

#include <array>
#include <cstdint>

#include "core/check.h"
#include "core/rule.h"
#include "replication/view/heap/chain.h"
#include "replication/view/heap/check.h"
#include "replication/view/heap/layout.h"

namespace ingot::inline replication_view_heap {

inline constexpr int kPlaceBits = 33;
inline constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;

inline constexpr std::uint64_t undo_place(std::uint64_t offset, std::uint64_t tag) {
  return offset / kWordBytes | tag << kPlaceBits;
}
inline std::uint64_t undo_check(std::uint64_t tag, std::uint64_t place, std::uint64_t old) {
  return mix(tag ^ old, place + 0xa0761d6478bd642f);
}
inline constexpr std::uint64_t undo_entry(std::size_t index) { return kUndoOffset + index * kUndoEntryBytes; }

// Not thread-safe. One writer.
class Words {
 public:
  explicit Words(Chain chain) : chain_(chain) {}

  // Begins a batch. REQUIRES: the root before it is published, and the tag was never used.
  void begin(std::uint64_t tag);

  // Any word that no batch writes otherwise: not of the undo log, roots, and what publishing stores.
  void set(std::uint64_t offset, std::uint64_t value);
  void set_content(std::uint64_t offset, std::uint64_t content) { set(offset, checked_word(offset, content)); }

  // Entries noted in this batch, and how many more there is room for.
  std::size_t noted() const { return count_; }
  std::size_t left() const { return kUndoEntriesMax - count_; }
  std::uint64_t tag() const { return tag_; }

 private:
  // Remembers some of the words that this batch has noted, by place: those that change often in a batch, as bitmaps do.
  static constexpr std::size_t kRemembered = 256;

  void note_once(std::uint64_t offset);
  void note(std::uint64_t offset, std::uint64_t place);

  Chain chain_;
  std::uint64_t tag_ = 0;
  std::size_t count_ = 0;
  std::array<std::uint64_t, kRemembered> remembered_{};
};

// Inline: each change of the state comes here some times.
inline void Words::set(std::uint64_t offset, std::uint64_t value) {
  if (INGOT_RULE("undo-first")) note_once(offset);
  // Release: a reader that follows the word finds what it leads to, and a kill leaves no change without its entry.
  chain_.store(offset, value, INGOT_RULE("words-release") ? std::memory_order_release : std::memory_order_relaxed);
  if (!INGOT_RULE("undo-first")) note_once(offset);
}

inline void Words::note_once(std::uint64_t offset) {
  const std::uint64_t place = undo_place(offset, tag_);
  std::uint64_t& remembered = remembered_[offset / kWordBytes % kRemembered];
  if (remembered == place) return;
  remembered = place;
  note(offset, place);
}

inline void Words::note(std::uint64_t offset, std::uint64_t place) {
  INGOT_CHECK(count_ < kUndoEntriesMax, "callers look at words_left() before a change");
  const std::uint64_t old = chain_.load(offset);
  const std::uint64_t entry = undo_entry(count_++);
  chain_.store(entry + 8, old);
  chain_.store(entry + 16, undo_check(tag_, place, old));
  // Release: an entry whose place is there is whole, and so are those before it.
  chain_.store(entry, place, INGOT_RULE("entries-release") ? std::memory_order_release : std::memory_order_relaxed);
}

}  // namespace ingot::replication_view_heap
