#include "bench/scc/background.h"

#include <algorithm>

#include "core/prng.h"

namespace ingot::scc {
namespace {

// The time a core needs to write one line to memory, which it reads first while a dirty line is written back.
Picoseconds line_ps(const Costs& costs, int core) {
  const auto n = static_cast<std::size_t>(routers(tile_of(core), controller_tile(controller_of(core))));
  const Picoseconds way = costs.memory.request[n] + costs.memory.reply[n];
  return 2 * way + costs.l2 + costs.copy_words[8] + costs.write_back;
}

bool anybody_runs(const Chip& chip) {
  for (int core = 0; core < kCores; ++core) {
    if (chip.running(core)) return true;
  }
  return false;
}

}  // namespace

BackgroundTraffic::BackgroundTraffic(Chip& chip, double period_us)
    : chip_(chip), period_ps_(static_cast<Picoseconds>(period_us * 1e6)) {
  Prng random(chip.options().seed);
  for (Writer& writer : writers_) writer.period_begin_ps = chip.now_ps() + random.below(period_ps_);
}

void BackgroundTraffic::resume() {
  const Picoseconds now = chip_.now_ps();
  for (int core = 0; core < kCores; ++core) {
    Writer& writer = writers_[static_cast<std::size_t>(core)];
    if (writer.armed) continue;
    writer.armed = true;
    chip_.at(std::max(now, writer.period_begin_ps), [this, core] { write_some(core); });
  }
}

void BackgroundTraffic::write_some(int core) {
  Writer& writer = writers_[static_cast<std::size_t>(core)];
  writer.armed = anybody_runs(chip_);
  if (!writer.armed) return;
  const Picoseconds now = std::max(chip_.now_ps(), writer.period_begin_ps);
  chip_.occupy_memory(controller_of(core), 2 * kLinesPerEvent);  // read and written back
  writer.lines_left -= kLinesPerEvent;
  Picoseconds next = now + kLinesPerEvent * line_ps(chip_.costs(), core);
  if (writer.lines_left <= 0) {  // periods that have passed meanwhile are skipped
    writer.lines_left = kLinesPerPeriod;
    while (writer.period_begin_ps < next) writer.period_begin_ps += period_ps_;
    next = writer.period_begin_ps;
  }
  chip_.at(next, [this, core] { write_some(core); });
}

}  // namespace ingot::scc
