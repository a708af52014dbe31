// The simulated Intel SCC: 48 cores without cache coherence, in virtual time, on one host thread.
//
//   auto chip = scc::Chip::create({.seed = 7});
//   if (!chip.ok()) ...
//   absl::Status status = (*chip)->run([](scc::Core& core) { ... });   // on all 48 cores
//
// The same options and programs give the same run, bit for bit (trace_hash()). Which core goes on is decided by virtual
// time alone: before an access that others can see, a core waits until it is the one with the smallest clock.
//
// Thread safety: one thread at a time uses a chip. Other threads may live beside it, and use other chips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/scc/core.h"
#include "transport/scc/costs.h"
#include "transport/scc/energy.h"
#include "transport/scc/options.h"
#include "transport/scc/statistics.h"

namespace ingot::scc {

struct ChipState;  // chip_state.h

// Pages of 16 MiB of the chip's memory, for Core::set_lut.
int private_page(int core, int index);  // REQUIRES: index < private_bytes / kLutEntryBytes
int shared_page(int index);             // REQUIRES: index < kSharedEntries

class Chip {
 public:
  using Program = std::function<void(Core&)>;

  // Errors: INVALID_ARGUMENT (validate), RESOURCE_EXHAUSTED (host memory), others for the trace file.
  static absl::StatusOr<std::unique_ptr<Chip>> create(const ChipOptions& options);
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;
  ~Chip();  // ends programs that have not returned, by unwinding their stacks

  const ChipOptions& options() const;
  const Costs& costs() const;

  // ---- A whole run ----

  // Runs the program on those cores (by default all) until all have returned, were killed, or are stopped. May be
  // called again: time and memory go on; all cores then start at the latest clock.
  // Errors: INVALID_ARGUMENT (core numbers: not from 0 to 47, twice, none; or still running), FAILED_PRECONDITION (a
  // deadlock: nobody can ever go on; the message says who waits for what), DEADLINE_EXCEEDED (virtual_seconds_max).
  absl::Status run(const Program& program);
  absl::Status run(std::span<const int> cores, const Program& program);

  // ---- Step by step, for a host loop ----

  // Lets a core begin now; if no core runs anything, at the latest clock of all. REQUIRES: it runs nothing, and was not
  // killed.
  void start(int core, Program program);
  enum class Progress {
    kFinished,  // all programs have ended, or are stopped
    kIdle,      // those that have not wait for what nobody on the chip will do
    kDeadline,  // the time was reached
  };
  // Runs until no core has anything to do before `until_ps`, or stop_advancing() is called.
  Progress advance(Picoseconds until_ps);
  void stop_advancing();  // from a program or a function given to at()
  // Who waits for what, one line each.
  std::string describe_waiting() const;

  // Ends the waits (wait_until) of a core as if a watched line had been written now. For a host that hands it work.
  void ring(int core);

  // Calls a function on the host's stack, between cores, when virtual time has come that far, or now if it is past.
  void at(Picoseconds when_ps, std::function<void()> function);

  // So many lines of somebody else's traffic queue at that controller now: for background load that no program makes.
  void occupy_memory(int controller, int lines);

  // ---- Faults. From a program, a function given to at(), or between runs ----

  void kill(int core);    // never runs again; its stack is unwound. What it held stays held
  void stop(int core);    // does nothing until resume()
  void resume(int core);
  bool killed(int core) const;
  bool stopped(int core) const;
  bool running(int core) const;  // started, not ended

  // ---- Looking at it, from outside the programs ----

  Picoseconds now_ps() const;  // the clock of whoever runs; between runs the latest of all
  Core& core(int core);
  std::span<std::byte> mpb(int core);             // what memory holds: no cost, no cache
  std::span<std::byte> private_memory(int core);
  std::span<std::byte> shared_memory();
  const Statistics& statistics();
  Energy energy();                                // from the chip's start until now
  // A hash over every access of every core, with its time: equal for equal runs.
  std::uint64_t trace_hash() const;
  // Writes what is missing of the trace file. Errors: of the file system. Done by the destructor, too, without a word.
  absl::Status finish_trace();

  ChipState& state() { return *state_; }

 private:
  explicit Chip(const ChipOptions& options);
  void start_at(int core, Program program, Picoseconds when);
  void end_programs();

  std::unique_ptr<ChipState> state_;
};

}  // namespace ingot::scc
