// Polling without cost for the host, and interrupts.
#include <algorithm>

#include "core/check.h"
#include "transport/scc/chip_state.h"
#include "transport/scc/core.h"
#include "transport/scc/core_state.h"

namespace ingot::scc::inline transport_scc {
namespace {

// Registers the watches during its lifetime, also while a stack unwinds.
class Watching {
 public:
  Watching(Watchers& watchers, int core, std::span<const WatchKey> keys)
      : watchers_(watchers), core_(core), keys_(keys) {
    for (const WatchKey& key : keys_) watchers_.add(core_, key);
  }
  ~Watching() {
    for (const WatchKey& key : keys_) watchers_.remove(core_, key);
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  Watchers& watchers_;
  const int core_;
  const std::span<const WatchKey> keys_;
};

}  // namespace

void Watchers::remove(int core, const WatchKey& key) {
  auto& watchers = regions_[region(key.begin)];
  const auto found = std::find_if(watchers.begin(), watchers.end(), [&](const Watcher& each) {
    return each.core == core && each.key.begin == key.begin && each.key.end == key.end;
  });
  INGOT_CHECK(found != watchers.end());
  watchers.erase(found);
}

bool CoreState::poll(std::span<const WatchKey> watch, absl::FunctionRef<bool()> check, Picoseconds deadline,
                     const char* what) {
  const Watching watching(chip.watchers, id, watch);
  for (;;) {
    next_instruction();
    hit_seen = false;  // this poll may miss later writes
    const std::uint64_t handled_before = handled;
    const Picoseconds began = clock;
    first_arrival = kForever;
    if (check() || unwinding) {
      hit_seen = true;  // an enclosing poll checks again
      return true;
    }
    clock += chip.costs.poll;
    counts->polling_ps += clock - began;
    if (clock >= deadline) return false;
    if (hit_seen || handled != handled_before) continue;
    wait_what = what;
    wait_keys = watch;
    wait_since = began;
    const Picoseconds phase = first_arrival == kForever ? 0 : std::min(first_arrival, clock) - began;
    sleep_until_hit(clock - began, phase, deadline);
    wait_what = nullptr;
  }
}

// Polls follow each other every `period`; the first access of each reaches its port `phase` after its start. Continues
// with the first poll that can see the change.
void CoreState::sleep_until_hit(Picoseconds period, Picoseconds phase, Picoseconds deadline) {
  const Picoseconds base = clock;
  woken_by_hits = woken_by_interrupts = true;
  if (pending_senders == 0 || !interruptible()) suspend(deadline);
  woken_by_hits = woken_by_interrupts = false;
  if (pending_senders != 0 && interruptible()) {
    clock = std::max(clock, arrived_ps);
  } else if (hit_seen) {
    const Picoseconds seen = std::max(hit_ps, clock);  // clock: the core may have been stopped meanwhile
    const Picoseconds late = seen > base + phase ? seen - base - phase : 0;
    const std::uint64_t polls = (late + period - 1) / period;
    counts->polls_skipped += polls;
    clock = base + polls * period;
  } else {
    counts->polls_skipped += deadline > base ? (deadline - base) / period : 0;
    clock = std::max(clock, deadline);
  }
  counts->polling_ps += clock - base;
}

void CoreState::hit(Picoseconds when) {
  if (hit_seen) return;
  hit_seen = true;
  hit_ps = when;
  if (!woken_by_hits) return;
  woken_by_hits = false;
  wake(when);
}

void CoreState::arrive(int sender, Picoseconds when) {
  if (!active) return;
  if (pending_senders == 0) arrived_ps = when;
  pending_senders |= std::uint64_t{1} << sender;
  if (!woken_by_interrupts || !interruptible()) return;
  woken_by_interrupts = false;
  wake(when);
}

void CoreState::take_interrupts() {
  while (pending_senders != 0 && interruptible()) {
    const std::uint64_t senders = std::exchange(pending_senders, 0);
    in_handler = true;
    const Picoseconds from = clock;
    clock = std::max(clock, arrived_ps) + chip.costs.interrupt_entry;
    ++handled;
    ++counts->interrupts;
    const auto current = handler;  // it may set another handler
    current(core, senders);
    clock += chip.costs.interrupt_return;
    in_handler = false;
    if (chip.trace != nullptr) chip.trace->span(id, "interrupt", from, clock);
  }
}

void CoreState::wait_for_interrupt() {
  const std::uint64_t handled_before = handled;
  next_instruction();
  while (handled == handled_before && !unwinding) {
    const Picoseconds base = clock;
    wait_what = "an interrupt";
    wait_keys = {};
    wait_since = base;
    woken_by_interrupts = true;
    if (pending_senders == 0 || !interruptible()) suspend(kForever);
    woken_by_interrupts = false;
    wait_what = nullptr;
    clock = std::max(clock, arrived_ps);
    counts->idle_ps += clock - base;
    next_instruction();
  }
}

}  // namespace ingot::scc::transport_scc
