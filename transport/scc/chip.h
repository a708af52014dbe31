// The simulated Intel SCC: 48 cores without cache coherence, in virtual time, on one host thread.
//
//   auto chip = scc::Chip::create({.seed = 7});
//   if (!chip.ok()) ...
//   absl::Status status = (*chip)->run([](scc::Core& core) { ... });   // on all 48 cores
//
// The same options and programs give the same run, bit for bit (trace_hash()). Only virtual time decides which core
// runs: before an access that others can see, a core waits until its clock is the lowest.
//
// Thread safety: one thread at a time uses a chip. Other threads may use other chips at the same time.
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

namespace ingot::scc::inline transport_scc {

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
  ~Chip();  // ends running programs by unwinding their stacks

  const ChipOptions& options() const;
  const Costs& costs() const;

  // ---- A whole run ----

  // Runs the program on those cores (by default all) until all have returned, were killed, or are stopped. May be
  // called again: time and memory go on; all cores then start at the latest clock. Errors: INVALID_ARGUMENT (core
  // numbers: not from 0 to 47, twice, none; or still running), FAILED_PRECONDITION (a deadlock: no core can go on; the
  // message names what each waits for), DEADLINE_EXCEEDED (virtual_seconds_max).
  absl::Status run(const Program& program);
  absl::Status run(std::span<const int> cores, const Program& program);

  // ---- Step by step, for a host loop ----

  // Starts a program on a core now; if no core runs a program, at the latest clock of all.
  // REQUIRES: the core runs nothing, and was not killed.
  void start(int core, Program program);
  enum class Progress {
    kFinished,  // all programs have ended, or are stopped
    kIdle,      // all others wait for events that cannot happen
    kDeadline,  // the time was reached
  };
  // Runs until no core has anything to do before `until_ps`, or stop_advancing() is called.
  Progress advance(Picoseconds until_ps);
  void stop_advancing();  // from a program or a function given to at()
  // What each core waits for, one line each.
  std::string describe_waiting() const;

  // Ends the waits (wait_until) of a core as if a watched line had been written now. For a host that passes it work.
  void ring(int core);

  // Calls a function on the host's stack, between cores, when virtual time reaches `when_ps`, or now if it is past.
  void at(Picoseconds when_ps, std::function<void()> function);

  // Adds that many lines of foreign traffic to the controller's queue now: background load without a program.
  void occupy_memory(int controller, int lines);

  // ---- Faults. From a program, a function given to at(), or between runs ----

  void kill(int core);    // never runs again; its stack is unwound. It keeps the locks it held
  void stop(int core);    // stops until resume()
  void resume(int core);
  bool killed(int core) const;
  bool stopped(int core) const;
  bool running(int core) const;  // started, not ended

  // ---- Inspection, from outside the programs ----

  Picoseconds now_ps() const;  // the running core's clock; between runs the latest of all
  Core& core(int core);
  std::span<std::byte> mpb(int core);             // memory's content: no cost, no cache
  std::span<std::byte> private_memory(int core);
  std::span<std::byte> shared_memory();
  const Statistics& statistics();
  Energy energy();                                // from the chip's start until now
  // A hash over every access of every core, with its time: equal for equal runs.
  std::uint64_t trace_hash() const;
  // Writes the rest of the trace file. Errors: of the file system. The destructor does it, too, without reporting
  // errors.
  absl::Status finish_trace();

  ChipState& state() { return *state_; }

 private:
  explicit Chip(const ChipOptions& options);
  void start_at(int core, Program program, Picoseconds when);
  void end_programs();

  std::unique_ptr<ChipState> state_;
};

}  // namespace ingot::scc::transport_scc
