// Background traffic: every core of a chip writes 1 MiB off-chip every so often (papers, section 4).
//
// The lines queue at the memory controllers at the pace at which a core can write them, and take no time of the core:
// as if a second agent stood beside it. What they do to a broadcast is contention at the controllers alone.
#pragma once

#include <array>

#include "transport/scc/chip.h"

namespace ingot::scc {

class BackgroundTraffic {
 public:
  // Begins now, each core at another moment of its first period, by seed. While no program runs it makes no events,
  // so that a run can end; resume() before each run. The chip must outlive this, and end no later.
  BackgroundTraffic(Chip& chip, double period_us);
  void resume();

 private:
  static constexpr int kLinesPerEvent = 8;
  static constexpr int kLinesPerPeriod = (1 << 20) / static_cast<int>(kLineBytes);

  void write_some(int core);

  Chip& chip_;
  const Picoseconds period_ps_;
  struct Writer {
    Picoseconds period_begin_ps = 0;
    int lines_left = kLinesPerPeriod;
    bool armed = false;
  };
  std::array<Writer, kCores> writers_;
};

}  // namespace ingot::scc
