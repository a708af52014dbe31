// The loop that runs the endpoints placed on one core: poll, spin or yield a little, then sleep on a doorbell.
//
// A round polls every Pollable once. Rounds that find nothing spin while that is cheaper than a sleep (only on a core
// without other loops), then yield the core (sched_yield) a bounded number of times, then sleep: raise the sleeping
// words, fence, check once more, wait until a bell, a watched descriptor or the nearest deadline. An idle loop takes no
// CPU time. Figures behind the defaults: docs/design/waiting.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/counters.h"
#include "core/types.h"
#include "transport/host/doorbell.h"
#include "transport/host/fabric.h"
#include "transport/host/waiter.h"
#include "transport/pollable.h"

namespace ingot::inline transport_host {

// CLOCK_MONOTONIC, the clock of Pollable.
std::uint64_t monotonic_ns();

// How long an idle loop stays awake.
struct WaitOptions {
  // Without yielding; 0 if other loops are placed on the core. A loop that notices that another thread wants its core
  // does not spin for the next kNoSpinNs.
  std::uint64_t spin_ns = 0;
  // Then this many rounds that each yield the core. A loop whose yield was taken by a thread that computes does not
  // yield for a while.
  int yields = 0;

  static WaitOptions own_core();
  static WaitOptions shared_core();
};

// A loop's counters, written by its thread only; null: not counted.
struct LoopCounters {
  Counter* wakeups = nullptr;  // sleeps that a bell or a watched descriptor ended
  Counter* sleeps = nullptr;
  Counter* polls = nullptr;    // rounds
};

// Created, filled and run by one thread; any thread may call stop().
class EventLoop {
 public:
  // Waits by `waiter`; null: by a PpollWaiter. Errors: RESOURCE_EXHAUSTED (descriptors).
  static absl::StatusOr<std::unique_ptr<EventLoop>> create(WaitOptions wait, LoopCounters counters = {},
                                                           std::unique_ptr<Waiter> waiter = nullptr);
  ~EventLoop();

  // Runs the pollable from now on; it outlives the loop. With an endpoint, the loop answers its doorbell: a message to
  // `endpoint`, or notify, wakes the loop. Not to be called during run().
  void add(Pollable& pollable);
  void add(Pollable& pollable, Fabric& fabric, EndpointId endpoint);

  // Calls `flush` at the end of each round, after all pollables, in the order in which they were given: what a round
  // has produced leaves at once, and by one system call for each target. Not to be called during run().
  void at_round_end(std::function<void()> flush);

  // Calls `readable` from the loop when `fd` can be read or is at its end, at most kDescriptorPollNs late (longer if
  // polls take longer). One callback per descriptor. Callbacks may watch and unwatch.
  void watch(int fd, std::function<void()> readable);
  void unwatch(int fd);

  // Runs until stop(). Returns at once if the loop was stopped before. Cannot be run again.
  void run();

  // Ends run() soon. Callable from any thread or signal handler.
  void stop();
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

 private:
  struct Endpoint {
    SleepingWord* word;
    const Doorbell* bell;
  };
  EventLoop(WaitOptions wait, LoopCounters counters, Doorbell stop_bell, std::unique_ptr<Waiter> waiter);

  int poll_all(std::uint64_t now_ns);
  bool any_readable();
  void idle(std::uint64_t now_ns);
  void note_yield(std::uint64_t from_ns, std::uint64_t to_ns);
  void sleep();
  std::uint64_t nearest_deadline_ns() const;
  bool wait_for_descriptors(std::uint64_t timeout_ns);

  const WaitOptions wait_;
  const LoopCounters counters_;
  const Doorbell stop_bell_;
  std::atomic<bool> stopped_{false};
  std::vector<Pollable*> pollables_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::function<void()>> flushes_;
  std::vector<int> watched_;  // by watch(), not bells
  const std::unique_ptr<Waiter> waiter_;

  std::uint64_t idle_since_ns_ = 0;     // 0: the last round found work
  std::uint64_t idle_round_ns_ = 0;     // when the last idle round was
  std::uint64_t no_spin_until_ns_ = 0;  // another thread wants the core
  std::uint64_t no_yield_ns_ = 0;        // another thread took the core at the last yield: for how long none follows
  std::uint64_t no_yield_until_ns_ = 0;
  int yields_done_ = 0;                 // since then
  int spurious_wakeups_ = 0;            // sleeps in a row that readable() prevented without work
  std::uint64_t polled_ns_ = 0;         // when the descriptors were last checked
};

}  // namespace ingot::transport_host
