// How threads of one process wait for each other's stores: they spin, then yield, then sleep on a futex.
//
// The handshake that prevents lost wake-ups: a waiter announces its sleep, fences, and checks once more. A thread that
// has stored something that the waiter may wait for then checks whether it sleeps. If each thread has its own core,
// waiters rarely sleep; the sleeper then makes the fence between the writer's store and its check for all threads
// (membarrier), and the writer pays one load. If threads share cores, sleeping is common and both sides fence.
//
// Spinning harms threads on the same core. So a waiter that was preempted between two readings of the clock, or for the
// length of a yield, stops spinning for a while, whatever its options; for twice as long if that happens again.
#pragma once

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "core/types.h"
#include "transport/host/fence.h"

namespace ingot::inline transport_host {

struct ThreadWaitOptions {
  std::uint64_t spin_ns = 0;     // before a waiter yields; 0 if threads share cores
  int yields = 16;               // then, before it sleeps
  bool sleepers_fence = false;   // as above; falls back to fences on both sides if the kernel has no membarrier
};

inline constexpr std::uint64_t kThreadPreemptedNs = 20'000;  // between two clock readings: preempted
// How long a preempted waiter does not spin: the first time, and at most, since each further time doubles it.
inline constexpr std::uint64_t kThreadNoSpinNs = 10'000'000;
inline constexpr std::uint64_t kThreadNoSpinNsMax = 640'000'000;

// The sleeping words of all participants, one line each. Outlives all waiters. Safe from any thread.
class SleepWords {
 public:
  // Participants are the endpoints 0 .. participants - 1.
  SleepWords(std::size_t participants, bool sleepers_fence)
      : words_(participants), sleepers_fence_(sleepers_fence && membarrier_works()) {}

  // Called after a store that the receiver may wait for.
  void wake(EndpointId receiver) {
    if (!sleepers_fence_) store_load_fence();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::atomic<std::uint32_t>& word = words_[receiver.value()].asleep;
    if (word.load(std::memory_order_relaxed) == 0) [[likely]] return;
    if (word.exchange(0, std::memory_order_relaxed) != 0) futex(word, FUTEX_WAKE_PRIVATE, 1);
  }

  // Returns when done() is true.
  template <typename Done>
  void sleep(EndpointId self, Done&& done) {
    std::atomic<std::uint32_t>& word = words_[self.value()].asleep;
    for (;;) {
      word.store(1, std::memory_order_relaxed);
      if (sleepers_fence_) {
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
      } else {
        store_load_fence();
      }
      if (done()) break;
      futex(word, FUTEX_WAIT_PRIVATE, 1);  // returns at once if a waker has written 0 meanwhile
      if (done()) break;
    }
    word.store(0, std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Entry {
    std::atomic<std::uint32_t> asleep{0};
  };

  static bool membarrier_works() {
    static const bool works =
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
    return works;
  }
  static void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
    ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
  }

  std::vector<Entry> words_;
  const bool sleepers_fence_;
};

struct NeverGiveUp {
  bool operator()() const { return false; }
};

// One participant's way to wait; satisfies BarrierWaiting. until() also returns when `give_up` is true, which it checks
// as often as `done`; the thread that makes it true wakes all sleepers. Used by one thread at a time.
template <typename GiveUp = NeverGiveUp>
class ThreadWaiting {
 public:
  ThreadWaiting(SleepWords& words, EndpointId self, const ThreadWaitOptions& options, GiveUp give_up = {})
      : words_(words), self_(self), options_(options), give_up_(give_up) {}

  template <typename Done>
  [[gnu::always_inline]] void until(Done&& done) {
    const auto over = [&] { return done() || give_up_(); };
    if (over()) return;
    if (options_.spin_ns > 0) {
      // The first half microsecond or so has no pause instruction, which would delay the discovery.
      for (int i = 0; i < kQuickPolls; ++i) {
        if (over()) return;
      }
    }
    wait_patiently(over);
  }

  void wrote(EndpointId receiver) { words_.wake(receiver); }

 private:
  static constexpr int kQuickPolls = 200;
  static constexpr int kPollsPerClock = 16;

  static std::uint64_t clock_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  template <typename Over>
  [[gnu::noinline]] void wait_patiently(Over& over) {
    if (options_.spin_ns > 0 && spin(over)) return;
    for (int i = 0; i < options_.yields; ++i) {
      const std::uint64_t before_ns = options_.spin_ns > 0 && i == 0 ? clock_ns() : 0;
      ::sched_yield();
      if (before_ns > 0 && clock_ns() - before_ns > kThreadPreemptedNs) shun_spinning();
      if (over()) return;
    }
    words_.sleep(self_, over);
  }

  void shun_spinning() {
    const std::uint64_t now_ns = clock_ns();
    if (now_ns < no_spin_until_ns_) return;
    no_spin_until_ns_ = now_ns + no_spin_ns_;
    no_spin_ns_ = std::min(2 * no_spin_ns_, kThreadNoSpinNsMax);
  }

  // Spins until `over`; false: it is time to yield.
  template <typename Over>
  bool spin(Over& over) {
    const std::uint64_t start_ns = clock_ns();
    if (start_ns < no_spin_until_ns_) return false;
    for (std::uint64_t polled_ns = start_ns; polled_ns - start_ns < options_.spin_ns;) {
      for (int i = 0; i < kPollsPerClock; ++i) {
        if (over()) {
          no_spin_ns_ = kThreadNoSpinNs;
          return true;
        }
        pause();
      }
      const std::uint64_t now_ns = clock_ns();
      if (now_ns - polled_ns > kThreadPreemptedNs) {
        shun_spinning();
        return false;
      }
      polled_ns = now_ns;
    }
    return false;
  }

  SleepWords& words_;
  const EndpointId self_;
  const ThreadWaitOptions options_;
  const GiveUp give_up_;
  std::uint64_t no_spin_until_ns_ = 0;
  std::uint64_t no_spin_ns_ = kThreadNoSpinNs;
};

}  // namespace ingot::transport_host
