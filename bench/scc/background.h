// Background traffic: every `period_us` each core of a chip writes 1 MiB to DRAM (papers, section 4).
//
// The lines queue at the memory controllers at the rate at which a core can write them, but take none of the core's
// time. So the traffic slows a broadcast only by contention at the controllers.
#pragma once

#include <array>

#include "transport/scc/chip.h"

namespace ingot::scc {

class BackgroundTraffic {
 public:
  // Begins now, each core at a random moment of its first period, by seed. While no program runs it makes no events, so
  // that a run can end; call resume() before each run. The chip must outlive this object.
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
