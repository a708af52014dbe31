// The next entry of the schedule: a tournament of at most 64 entries by (time, tie, entry). Any entry changes in six
// comparisons.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "transport/scc/costs.h"

namespace ingot::scc::inline transport_scc {

// A time, a tie-breaker of four bits, and room for the entry's number, so that two of these compare as integers. Times
// reach 2^54 ps, five hours.
using Moment = std::uint64_t;
inline constexpr int kEntryBits = 6;
inline constexpr int kTieBits = 4;
inline constexpr Moment kNever = ~Moment{0};
constexpr Moment moment(Picoseconds ps, std::uint64_t tie) { return (ps << kTieBits | tie) << kEntryBits; }
constexpr Picoseconds time_of(Moment when) { return when >> (kTieBits + kEntryBits); }
// kNever stays unchanged.
constexpr Moment moment_of(int entry, Moment when) { return when | static_cast<Moment>(entry); }

class Timetable {
 public:
  static constexpr int kEntries = 1 << kEntryBits;

  Timetable() { when_.fill(kNever); }

  Moment when(int entry) const { return when_[static_cast<std::size_t>(kEntries + entry)]; }
  Moment first_moment() const { return when_[1]; }
  int first() const { return static_cast<int>(when_[1] & (kEntries - 1)); }  // any if first_moment() is kNever

  // Without branches, since the winner of a comparison is as good as random. The winner moves up in a register, and its
  // opponents do not depend on it, so no load waits for a comparison (docs/design/scc-simulator.md).
  void set(int entry, Moment when) {
    std::size_t i = static_cast<std::size_t>(kEntries + entry);
    Moment winner = when_[i] = moment_of(entry, when);
#pragma GCC unroll 6
    for (int level = 0; level < kEntryBits; ++level) {
      winner = std::min(winner, when_[i ^ 1]);
      i /= 2;
      when_[i] = winner;
    }
  }

 private:
  // Node i is the winner of nodes 2 i and 2 i + 1; the entries are nodes 64 to 127.
  std::array<Moment, 2 * kEntries> when_;
};

}  // namespace ingot::scc::transport_scc
