#include "transport/scc/core_state.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "transport/scc/chip_state.h"
#include "transport/scc/core.h"

namespace ingot::scc::inline transport_scc {

const char* name_of(Access access) {
  switch (access) {
    case Access::kMpbRead: return "read MPB";
    case Access::kMpbWrite: return "write MPB";
    case Access::kMpbWordRead: return "read MPB word";
    case Access::kMpbWordWrite: return "write MPB word";
    case Access::kMemoryRead: return "read memory";
    case Access::kMemoryWrite: return "write memory";
    case Access::kWriteBack: return "write back";
    case Access::kRegister: return "register";
    case Access::kFpga: return "FPGA";
  }
  return "";
}

CoreState::CoreState(Core& the_core, ChipState& the_chip, int the_id)
    : core(the_core),
      chip(the_chip),
      id(the_id),
      tile(tile_of(the_id)),
      counts(&the_chip.statistics.cores[static_cast<std::size_t>(the_id)]) {
  chip.set_up_lut(*this);
}

void CoreState::sync() {
  if (clock < chip.scheduler.next_ps() && !attention) [[likely]] return;
  sync_slowly();
}

void CoreState::sync_slowly() {
  if (unwinding) return;
  if (stopped && !ending) {
    resume_at = clock;
    chip.scheduler.block(id);
  } else if (!ending) {
    chip.scheduler.step_aside(id, clock);
  }
  after_switch();
}

void CoreState::after_switch() {
  clock = std::max(clock, resumed_ps);
  if (!ending || unwinding) return;
  unwinding = true;
  throw ProgramEnded{};
}

// Switches to another fibre; returns at that time or when woken.
void CoreState::suspend(Picoseconds until) {
  if (unwinding) return;
  if (ending) return after_switch();
  if (stopped) {
    resume_at = until;
    until = kForever;
  }
  chip.scheduler.reached(served_ps);
  chip.scheduler.block(id, until);
  after_switch();
}

void CoreState::charge(Picoseconds ps) {
  next_instruction();
  Picoseconds end = clock + ps;
  // A core that cannot be interrupted runs ahead, and so does one that is done before an interrupt could come.
  while (interruptible() && end >= chip.scheduler.next_ps()) {
    woken_by_interrupts = true;
    suspend(end);
    woken_by_interrupts = false;
    if (pending_senders == 0) break;
    clock = std::max(clock, std::min(arrived_ps, end));
    const Picoseconds left = end - clock;
    take_interrupts();
    end = clock + left;
  }
  clock = std::max(clock, end);
}

void CoreState::wait_for_gap() {
  // A posted write that queues at its port lengthens the gap, which is known once its arrival has been simulated.
  while (clock < next_access_ps) {
    clock = next_access_ps;
    sync();
  }
}

// Runs until the access reaches its port.
void CoreState::begin_access(const Path& path, int routers) {
  if (next_access_ps != 0) wait_for_gap();
  clock += path.request[static_cast<std::size_t>(routers)];
  if (chip.jitter_ps != 0) clock += chip.prng.below(chip.jitter_ps);
}

bool CoreState::access(const Route& route, const Path& path, Access kind) {
  if (unwinding) return false;
  const Picoseconds from = clock;
  begin_access(path, route.routers);
  sync();
  first_arrival = std::min(first_arrival, clock);
  served_ps = route.port->serve(clock);
  clock = served_ps + path.reply[route.routers];
  Statistics& statistics = chip.statistics;
  if (route.target == LutEntry::Target::kMpb) {
    ++statistics.tile_to_tile[static_cast<std::size_t>(tile)][route.server];
  } else {
    ++statistics.tile_to_controller[static_cast<std::size_t>(tile)][route.server];
  }
  record(kind, from);
  return true;
}

bool CoreState::access_register(const Path& path, int to_tile) {
  if (unwinding) return false;
  const Picoseconds from = clock;
  const int distance = chip.costs.posted_writes && to_tile == tile ? 0 : routers(tile, to_tile);
  begin_access(path, distance);
  sync();
  first_arrival = std::min(first_arrival, clock);
  served_ps = clock;
  clock += path.reply[static_cast<std::size_t>(distance)];
  ++chip.statistics.tile_to_tile[static_cast<std::size_t>(tile)][static_cast<std::size_t>(to_tile)];
  record(Access::kRegister, from);
  return true;
}

bool CoreState::access_fpga(const Path& path) {
  if (unwinding) return false;
  const Picoseconds from = clock;
  const int distance = chip.costs.posted_writes && kFpgaTile == tile ? 0 : routers(tile, kFpgaTile);
  begin_access(path, distance);
  clock += chip.costs.fpga_one_way;
  sync();
  first_arrival = std::min(first_arrival, clock);
  served_ps = chip.fpga_port.serve(clock);
  clock = served_ps + chip.costs.fpga_one_way + path.reply[static_cast<std::size_t>(distance)];
  ++chip.statistics.tile_to_fpga[static_cast<std::size_t>(tile)];
  record(Access::kFpga, from);
  return true;
}

void CoreState::record(Access kind, Picoseconds from) {
  const bool write = kind == Access::kMpbWrite || kind == Access::kMpbWordWrite || kind == Access::kMemoryWrite ||
                     kind == Access::kWriteBack;
  ++(write ? counts->mesh_writes : counts->mesh_reads);
  const auto who = static_cast<std::uint64_t>(id) << 8 | static_cast<std::uint64_t>(kind);
  chip.hash = (chip.hash ^ (clock << 14) ^ who) * 0x9fb21c651e98df25;
  chip.hash ^= chip.hash >> 32;
  if (chip.trace != nullptr) [[unlikely]] chip.trace->span(id, name_of(kind), from, clock);
}

// ---- Faults ----

void CoreState::wake(Picoseconds when) {
  if (stopped) {
    resume_at = std::min(resume_at, when);
  } else {
    chip.scheduler.set(id, when);
  }
}

void CoreState::stop() {
  if (stopped || !active) return;
  stopped = attention = true;
  if (chip.scheduler.running() != id) resume_at = chip.scheduler.remove(id);
}

void CoreState::resume(Picoseconds now) {
  if (!stopped) return;
  stopped = false;
  attention = ending;
  resumed_ps = now;
  const Picoseconds when = std::exchange(resume_at, kForever);
  if (when != kForever && chip.scheduler.running() != id) chip.scheduler.set(id, std::max(when, now));
}

}  // namespace ingot::scc::transport_scc
