// One simulated core, for the program on it. That program makes all calls, on its own fibre, unless stated otherwise.
// No call is allowed while an exception unwinds, or inside a catch block.
//
// Memory is simulated with its content: an MPB, DRAM, the MPB-typed lines of the L1 and the write-combining buffer hold
// bytes, and a program that forgets invalidate_mpb() or flush_wcb() reads stale bytes or leaves them to others.
//
//   load   MPB-typed:  L1 if the line is there (possibly stale), else one line over the mesh into L1
//          uncached:   each word over the mesh
//          cached:     L1, L2 or a line of DRAM
//   store  MPB-typed:  into the write-combining buffer (one line), and into L1 if the line is there. The buffer leaves
//                      as one masked line when all 32 bytes are filled, when another line is stored to or its own line
//                      must be loaded from memory, and by flush_wcb()
//          uncached:   each word over the mesh, acknowledged
//          cached:     L1 or L2 if the line is there; a miss goes to DRAM word by word and allocates nothing
//
// An access over the mesh stops the core until the answer is back (WGR model: a write to an MPB does not). It queues,
// first come first served, at the port of its tile or controller. All costs are virtual time; see Costs. Data of cached
// memory is in DRAM at once: the caches only determine its time, which is exact because a cached page belongs to one
// core (set_lut).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "transport/scc/address.h"
#include "transport/scc/costs.h"

namespace ingot::scc::inline transport_scc {

class Chip;
struct CoreState;  // core_state.h: the simulator's side of a core

// Lines whose change may end a wait: MPB or shared memory, by address.
struct Watch {
  Address at = 0;
  std::size_t bytes = kLineBytes;
};

class Core {
 public:
  Core(Chip& chip, int id);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core();

  int id() const { return id_; }
  Chip& chip() { return chip_; }
  const Costs& costs() const;

  // ---- Time ----

  Picoseconds now_ps() const;
  std::uint64_t now_cycles() const;  // of this core, since the chip started

  // Private work of so many core cycles. Interrupts are taken during it.
  void compute(std::uint64_t core_cycles) { charge(costs().core_cycles(core_cycles)); }
  void charge(Picoseconds ps);

  // Halts for that time: like charge, but the energy account counts it as idle.
  void sleep(Picoseconds ps);

  // ---- Memory, by address ----

  // Into or out of registers: on the other side of read() and write() there is no simulated memory. Any length and
  // alignment, within one LUT entry. Eight words cost kCopyCoreCyclesPerLine of instructions.
  void read(Address from, std::span<std::byte> out);
  void write(Address to, std::span<const std::byte> in);

  // One word or byte, aligned, likewise.
  template <typename T>
  T load(Address from) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kLineBytes);
    T value;
    read(from, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  template <typename T>
  void store(Address to, T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kLineBytes);
    write(to, std::as_bytes(std::span(&value, 1)));
  }

  // RCCE's memcpy: line by line. A destination line of cached memory is read before it is written, so that it is in L1
  // (write misses do not allocate). The last line may stay in the write-combining buffer: flush_wcb(). Any length
  // within LUT entries of the same kind; the ranges must not overlap.
  void copy(Address to, Address from, std::size_t bytes);

  // This core's private memory, for native computation: without cost or cache effects (charge the computation).
  std::span<std::byte> private_memory();

  // ---- Caches ----

  // CL1INVMB: drops all MPB-typed lines from L1. Needed before a load that must see other cores' writes.
  void invalidate_mpb();
  // Sends the write-combining buffer; on return, all stores of this core are in memory.
  void flush_wcb();
  // Writes dirty lines back and empties L1 and L2: afterwards every line of cached memory misses.
  void flush_caches();

  // ---- Registers ----

  // Reads that core's test-and-set register over the mesh; true: acquired. Any core may clear it.
  bool test_and_set(int core);
  void clear_test_and_set(int core);
  // Polls until test_and_set succeeds.
  void lock(int core);
  void unlock(int core) { clear_test_and_set(core); }

  // The FPGA's counters, 0 to 2 * kCores - 1: reading fetches and increments, modulo 2^32.
  std::uint32_t fetch_increment(int counter);
  void write_counter(int counter, std::uint32_t value);

  // ---- Interrupts ----

  // Asks the global interrupt controller to interrupt the cores whose bits are set (bit i: core i; its own is allowed).
  // Costs one write to the FPGA, whatever the number of targets. Requests to a target with a pending one are merged.
  void interrupt(std::uint64_t targets);

  // The handler is called on this core's fibre at the next access, end of charge or poll after the arrival, with the
  // set of requesting cores since the last call. It may use all of Core, except waiting for its own next interrupt; it
  // is not interrupted. Without a handler, and while masked, interrupts stay pending.
  using InterruptHandler = std::function<void(Core&, std::uint64_t senders)>;
  void on_interrupt(InterruptHandler handler);
  void mask_interrupts();
  void unmask_interrupts();
  // Halts until at least one interrupt was handled since the call, or was pending at its start.
  void wait_for_interrupt();

  // ---- Waiting ----

  // Polls: calls check() until it returns true. check() reads through this core (with invalidate_mpb where needed) and
  // is charged as often as a real core would have called it. But the simulator calls it only when another core has
  // written a watched line, an interrupt was handled, or Chip::ring was called. So all that check() reads must be
  // watched. Polls that cannot find a change occupy no port. `what` is for the report of a deadlock: "waits for the
  // sent flag of core 3". It must outlive the call.
  void wait_until(std::span<const Watch> watch, absl::FunctionRef<bool()> check, const char* what = "");
  void wait_until(std::initializer_list<Watch> watch, absl::FunctionRef<bool()> check, const char* what = "") {
    wait_until(std::span<const Watch>(watch.begin(), watch.size()), check, what);
  }
  // The same with a deadline: false if check() did not hold by then.
  bool wait_until(std::span<const Watch> watch, absl::FunctionRef<bool()> check, Picoseconds deadline_ps,
                  const char* what);

  // Within check(): the next poll follows this one at once, for short polls that follow a long one. True if a watched
  // line was written since this poll started, so that the poll may have missed it.
  bool poll_again();

  // Polls the byte, word or other small value at an MPB-typed address until pred(value) holds, dropping MPB-typed lines
  // before each poll. Returns the value.
  template <typename T, typename Pred>
  T wait_value(Address at, Pred pred, const char* what = "a flag") {
    T value{};
    const Watch watch{at, sizeof(T)};
    wait_until(
        std::span<const Watch>(&watch, 1),
        [&] {
          invalidate_mpb();
          value = load<T>(at);
          return pred(value);
        },
        what);
    return value;
  }

  // ---- Address translation ----

  // Changes an entry of this core's table; costs one write to a register of its tile. Lines of the old mapping are
  // first written back and dropped from the caches, as a driver must do. Errors: INVALID_ARGUMENT (no such entry, page
  // or type; MPB cached), FAILED_PRECONDITION (a cached page belongs to one core: another core maps that page already,
  // or maps it cached).
  absl::Status set_lut(int entry, LutEntry value);
  LutEntry lut(int entry) const;

  // ---- Trace ----

  // Marks a span of this core's time in the trace file. Costs nothing.
  void trace_begin(const char* name);
  void trace_end();

  CoreState& state() { return *state_; }

 private:
  friend class Chip;

  Chip& chip_;
  const int id_;
  const std::unique_ptr<CoreState> state_;
};

}  // namespace ingot::scc::transport_scc
