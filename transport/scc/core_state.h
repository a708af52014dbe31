// The simulator's side of a core: clock, caches, write-combining buffer, address translation, and waiting.
//
// The order of steps that keeps a run causal: an access adds its request time to the clock, lets earlier cores run
// (sync), is served by its port, takes effect on memory at once, and adds the reply time. So effects happen in the
// order of their arrival at the ports. Between two calls of sync a core does nothing that others can see.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"
#include "transport/scc/address.h"
#include "transport/scc/cache.h"
#include "transport/scc/costs.h"
#include "transport/scc/fibre.h"
#include "transport/scc/statistics.h"
#include "transport/scc/timetable.h"

namespace ingot::scc::inline transport_scc {

class Core;
struct ChipState;
struct WatchKey;

// Unwinds the stack of a program that was ended from outside.
struct ProgramEnded {};

// The port of a tile's MPB, of a memory controller or of the FPGA: one access at a time, first come first served.
struct Port {
  Picoseconds free_ps = 0;
  Picoseconds service_ps = 0;
  PortCounts* counts = nullptr;

  // An access reaches the port at `arrived`; returns when it is served. In the order of arrivals.
  Picoseconds serve(Picoseconds arrived) {
    const Picoseconds served = std::max(arrived, free_ps);
    counts->queued_ps += served - arrived;
    ++counts->lines;
    free_ps = served + service_ps;
    return served;
  }
};

// A resolved entry of the translation table.
struct Route {
  MemoryType type = MemoryType::kNone;
  LutEntry::Target target = LutEntry::Target::kNothing;
  std::uint8_t routers = 0;      // index into Path
  std::uint8_t server = 0;       // tile or controller
  std::byte* bytes = nullptr;    // of the entry's byte 0
  std::size_t size = 0;          // bytes there
  std::uint64_t watch_base = 0;  // WatchKey of byte 0
  Port* port = nullptr;
};

// The kind of an access, for the hash and the trace.
enum class Access : std::uint8_t {
  kMpbRead,
  kMpbWrite,
  kMpbWordRead,
  kMpbWordWrite,
  kMemoryRead,
  kMemoryWrite,
  kWriteBack,
  kRegister,
  kFpga,
};
const char* name_of(Access access);

struct CoreState {
  static constexpr Picoseconds kForever = time_of(kNever);
  // How far a core with private work may run ahead of the others. Bounds how late a program that never leaves its
  // caches learns that it was stopped, killed, or is beyond the limit of virtual time.
  static constexpr Picoseconds kRunAheadPs = 100'000'000;

  CoreState(Core& core, ChipState& chip, int id);

  // ---- Time (core_state.cc) ----

  // Private work; interrupts are taken during it.
  void charge(Picoseconds ps);
  // Lets cores and events with an earlier time run first. Throws ProgramEnded if the program was ended meanwhile.
  void sync();
  // Between two instructions: takes interrupts, and bounds how far private work runs ahead of the others.
  void next_instruction();
  // An access to a register of that tile, or to the FPGA. If it returns true, the caller performs the effect; false:
  // the program is ending, and must have no effect any more.
  [[nodiscard]] bool access_register(const Path& path, int tile);
  [[nodiscard]] bool access_fpga(const Path& path);

  // ---- Memory: parts of one line (memory_path.cc) ----

  void load(Address from, std::byte* out, std::size_t bytes);
  // `allocate`: a line of cached memory is read first, so that it is in L1.
  void store(Address to, const std::byte* in, std::size_t bytes, bool allocate);
  void drain();  // sends the write-combining buffer
  // Writes back and drops the cached lines of an entry, or of all entries (-1).
  void flush_caches(int entry);

  // ---- Waiting and interrupts (core_wait.cc) ----

  // See Core::wait_until. False at the deadline.
  bool poll(std::span<const WatchKey> watch, absl::FunctionRef<bool()> check, Picoseconds deadline, const char* what);
  void wait_for_interrupt();
  void hit(Picoseconds when);                  // a watched line was written, or similar
  void arrive(int sender, Picoseconds when);   // an interrupt
  void take_interrupts();
  bool interruptible() const { return handler && !masked && !in_handler && !unwinding; }

  // ---- Faults ----

  void wake(Picoseconds when);  // puts a waiting core into the timetable, unless it is stopped
  void stop();
  void resume(Picoseconds now);

  Core& core;
  ChipState& chip;
  const int id;
  const int tile;
  Picoseconds clock = 0;

  // The program. `active` from its start until it has returned or was unwound.
  std::unique_ptr<Fibre> fibre;
  bool active = false;
  bool ending = false;  // must be unwound
  bool unwinding = false;
  bool killed = false;
  bool stopped = false;
  bool attention = false;            // ending or stopped
  Picoseconds resume_at = kForever;  // when a stopped core would have continued
  Picoseconds resumed_ps = 0;        // when it was last resumed

  // Waiting. `what` is null while the core does not wait.
  const char* wait_what = nullptr;
  std::span<const WatchKey> wait_keys;
  Picoseconds wait_since = 0;
  bool woken_by_interrupts = false;  // an arrival ends its wait
  bool woken_by_hits = false;
  bool hit_seen = false;
  Picoseconds hit_ps = 0;
  Picoseconds first_arrival = kForever;  // at a port, since the last poll started

  // Interrupts.
  std::function<void(Core&, std::uint64_t)> handler;
  std::uint64_t pending_senders = 0;
  Picoseconds arrived_ps = 0;
  bool masked = false;
  bool in_handler = false;
  std::uint64_t handled = 0;

  // Memory.
  std::array<Route, kLutEntries> routes{};
  std::array<LutEntry, kLutEntries> lut{};
  L1 l1;
  L2 l2;
  WriteCombiningBuffer buffer;
  Picoseconds next_access_ps = 0;  // WGR: the gap after a posted write
  Picoseconds served_ps = 0;       // when the last access was served
  Picoseconds run_ps = 0;          // of ended programs: from start to end
  Picoseconds started_ps = 0;
  CoreCounts* counts;

 private:
  void sync_slowly();
  void after_switch();
  void begin_access(const Path& path, int routers);
  [[nodiscard]] bool access(const Route& route, const Path& path, Access kind);
  void record(Access kind, Picoseconds from);

  Route& route_at(Address address, std::size_t bytes);
  void load_mpb_typed(const Route& route, Address from, std::byte* out, std::size_t bytes);
  void store_mpb_typed(Address to, const std::byte* in, std::size_t bytes);
  void load_uncached(const Route& route, Address from, std::byte* out, std::size_t bytes);
  void store_uncached(const Route& route, Address to, const std::byte* in, std::size_t bytes);
  int fetch_cached(const Route& route, LineNumber line);  // place in L1
  void store_cached(const Route& route, Address to, const std::byte* in, std::size_t bytes, bool allocate);
  void leave_l1(LineNumber dirty);
  void write_back(LineNumber line);
  void write_line(const Route& route, const WriteCombiningBuffer& line);
  void post(const Route& route, const WriteCombiningBuffer& line, const PostedWrite& cost, Access kind);
  void apply(const Route& route, const WriteCombiningBuffer& line, Picoseconds when);
  void wait_for_gap();

  void sleep_until_hit(Picoseconds period, Picoseconds phase, Picoseconds deadline);
  void suspend(Picoseconds until);
};

}  // namespace ingot::scc::transport_scc
