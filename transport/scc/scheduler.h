// Virtual time: which core runs next, and events besides the cores.
//
// Invariant: the running core or event comes before everything in the timetable by (time, tie). A core keeps its own
// clock, which may run ahead during private work; before any effect that others can see it calls Scheduler::step_aside
// with its clock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "transport/scc/fibre.h"
#include "transport/scc/geometry.h"
#include "transport/scc/timetable.h"

namespace ingot::scc::inline transport_scc {

class Scheduler {
 public:
  static constexpr Picoseconds kForever = time_of(kNever);

  explicit Scheduler(std::uint64_t seed) : tie_state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  // The time of the next entry; the running core may go on without a switch while its clock is below.
  Picoseconds next_ps() const { return next_ps_; }

  // The latest reported time at which anything had an effect.
  Picoseconds now_ps() const { return now_ps_; }
  void reached(Picoseconds when) { now_ps_ = when > now_ps_ ? when : now_ps_; }

  // ---- Called by the running core ----

  // Runs all entries that come before `core` at `clock`. The core is in the timetable meanwhile.
  void step_aside(int core, Picoseconds clock);
  // Runs other entries, until that time or until set() gives the core another.
  void block(int core, Picoseconds until = kForever);
  // The fibre that continues after the running core has ended.
  Fibre& after_end();

  // ---- Called by the running core or event ----

  // Puts a suspended core into the timetable, or moves it there.
  // REQUIRES: it is not the running one.
  void set(int core, Picoseconds when);
  // Takes it out; returns when it would have continued, or kForever.
  Picoseconds remove(int core);
  bool scheduled(int core) const { return table_.when(core) != kNever; }

  // Calls the function at that time, on the stack of advance(). Events at one time run in the order of these calls.
  void at(Picoseconds when, std::function<void()> function);

  // ---- Called from outside the cores ----

  enum class End { kNobody, kDeadline, kStopped };
  // Runs cores and events until the timetable is empty, time reaches `until`, or stop() was called.
  End advance(Picoseconds until);
  void stop() {
    stopped_ = true;
    refresh();
  }
  // Continues that core until it blocks, steps aside or ends, whatever the time.
  // REQUIRES: advance() does not run.
  void run_alone(int core);

  // Set once, before a core is first in the timetable.
  void set_fibre(int core, Fibre* fibre) { fibres_[static_cast<std::size_t>(core)] = fibre; }
  int running() const { return running_; }  // a core, or -1

 private:
  static constexpr int kEventEntry = 62;
  static constexpr int kDeadlineEntry = 63;
  static_assert(kCores <= kEventEntry);

  struct Event {
    Picoseconds when;
    std::uint64_t number;  // in the order of creation
    std::function<void()> function;
    bool operator<(const Event& other) const {  // the heap's top is the earliest
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  std::uint64_t tie() {
    tie_state_ = tie_state_ * 6364136223846793005u + 1442695040888963407u;
    return tie_state_ >> (64 - kTieBits);
  }
  void refresh() { next_ps_ = stopped_ ? 0 : time_of(table_.first_moment()); }
  Fibre& choose();  // makes the first entry the running one
  void run_event();

  Timetable table_;
  Picoseconds next_ps_ = kForever;
  Picoseconds now_ps_ = 0;
  std::uint64_t tie_state_;
  int running_ = -1;
  bool stopped_ = false;
  Fibre host_;  // the stack of advance()
  std::array<Fibre*, kCores> fibres_{};
  std::vector<Event> events_;  // a heap
  std::uint64_t events_made_ = 0;
};

}  // namespace ingot::scc::transport_scc
