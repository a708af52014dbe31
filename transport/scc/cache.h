// A core's caches. Of cached lines they keep tags only (the bytes are in DRAM); of MPB-typed lines they keep the bytes,
// which may be stale. Used by one core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/scc/address.h"

namespace ingot::scc::inline transport_scc {

// Numbers of lines of the core's address space.
using LineNumber = std::uint32_t;
constexpr LineNumber line_number(Address address) { return address / kLineBytes; }

// Tags of a set-associative cache. The ways of a set are replaced in turn (assumed: cheap, and no worse for copies).
template <std::size_t kSets, std::size_t kWays>
class Tags {
 public:
  static constexpr int kMiss = -1;
  static constexpr std::size_t kLines = kSets * kWays;

  // Place of the line, 0 to kLines - 1, or kMiss.
  int find(LineNumber line) const {
    const std::size_t first = line % kSets * kWays;
    for (std::size_t i = first; i < first + kWays; ++i) {
      if (tags_[i] == line + 1) return static_cast<int>(i);
    }
    return kMiss;
  }

  // The place for the line. Its present line is evicted: see holds() and line_at() before put().
  int victim(LineNumber line) {
    const std::size_t set = line % kSets;
    return static_cast<int>(set * kWays + next_[set]++ % kWays);
  }
  bool holds(int place) const { return tags_[place] != 0; }
  LineNumber line_at(int place) const { return tags_[place] - 1; }
  void put(int place, LineNumber line) { tags_[place] = line + 1; }
  void drop(int place) { tags_[place] = 0; }

 private:
  std::array<LineNumber, kLines> tags_{};  // 1 + the line; 0: empty
  std::array<std::uint8_t, kSets> next_{};
};

// Tags, with a dirty bit for each line.
template <std::size_t kSets, std::size_t kWays>
class WriteBackTags {
 public:
  static constexpr int kMiss = Tags<kSets, kWays>::kMiss;
  static constexpr std::size_t kLines = Tags<kSets, kWays>::kLines;

  int find(LineNumber line) const { return tags_.find(line); }
  int victim(LineNumber line) { return tags_.victim(line); }
  void set_dirty(int place) { dirty_[place] = 1; }

  // Puts the line at this place, clean. True if a dirty line had to leave, which is then `evicted`.
  bool put(int place, LineNumber line, LineNumber& evicted) {
    const bool evicted_dirty = tags_.holds(place) && dirty_[place] != 0;
    if (evicted_dirty) evicted = tags_.line_at(place);
    tags_.put(place, line);
    dirty_[place] = 0;
    return evicted_dirty;
  }

  // Calls out(line) for each dirty line that fulfils the predicate, and drops all lines that do.
  template <typename Pred, typename Out>
  void drop_if(Pred pred, Out out) {
    for (int place = 0; place < static_cast<int>(kLines); ++place) {
      if (!tags_.holds(place) || !pred(tags_.line_at(place))) continue;
      if (dirty_[place] != 0) out(tags_.line_at(place));
      dirty_[place] = 0;
      tags_.drop(place);
    }
  }

 private:
  Tags<kSets, kWays> tags_;
  std::array<std::uint8_t, kLines> dirty_{};
};

// 16 KiB, four ways: cached and MPB-typed lines side by side; only cached ones are ever dirty.
class L1 : public WriteBackTags<128, 4> {
 public:
  // An MPB-typed line, if it is there and was not dropped: 32 bytes; or null.
  std::byte* find_mpb(LineNumber line) {
    const int place = find(line);
    return place >= 0 && epoch_of_[place] == epoch_ ? bytes_[place].data() : nullptr;
  }

  // Makes room for the line and returns its place. `evicted`: the line that left, if it was dirty.
  int take(LineNumber line, bool mpb, LineNumber& evicted, bool& evicted_dirty) {
    int place = find(line);  // a dropped copy of the line is reused
    if (place < 0) place = victim(line);
    evicted_dirty = put(place, line, evicted);
    epoch_of_[place] = mpb ? epoch_ : 0;
    return place;
  }
  std::byte* bytes(int place) { return bytes_[place].data(); }

  // CL1INVMB: drops all MPB-typed lines, as those of earlier epochs.
  void drop_mpb() { ++epoch_; }

 private:
  std::uint64_t epoch_ = 1;  // 0: of cached lines
  std::array<std::uint64_t, kLines> epoch_of_{};
  std::array<std::array<std::byte, kLineBytes>, kLines> bytes_{};  // MPB-typed lines only
};

// 256 KiB, four ways: cached lines only.
class L2 : public WriteBackTags<2048, 4> {
 public:
  // Takes the line in; true if a dirty one had to leave, which is then `evicted`.
  bool take(LineNumber line, LineNumber& evicted) { return put(victim(line), line, evicted); }
};

// The line that is being collected.
struct WriteCombiningBuffer {
  static constexpr std::uint32_t kFull = ~std::uint32_t{0};

  bool empty() const { return mask == 0; }

  Address line = 0;        // of its first byte; meaningless while empty
  std::uint32_t mask = 0;  // bit i: byte i was stored
  std::array<std::byte, kLineBytes> bytes{};
};

}  // namespace ingot::scc::transport_scc
