// How a sleeping endpoint is woken, from any process: a word in shared memory that says whether it sleeps, and an
// eventfd that ends its sleep.
//
// The word counts up: odd while the endpoint sleeps or is about to, even while it is awake. Who rings an odd word
// first writes the eventfd, then makes the word even, so that the others save themselves the system call. A ringer that
// dies between the two has woken the sleeper; one that was stopped between the two finds the word counted on and
// changes nothing. So no ringer can lose a wake-up for the others.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot {

// One line of the fabric's memory. Zero-filled: awake.
struct alignas(64) SleepingWord {
  std::atomic<std::uint64_t> sleeps{0};

  // Any thread of any process. Relaxed: the fences of transport/waker.h order it.
  bool asleep() const { return (sleeps.load(std::memory_order_relaxed) & 1) != 0; }

  // The endpoint's own loop only. Both are idempotent, and repair what an earlier incarnation left.
  void raise() { sleeps.store(sleeps.load(std::memory_order_relaxed) | 1, std::memory_order_relaxed); }
  void lower() {
    const std::uint64_t now = sleeps.load(std::memory_order_relaxed);
    sleeps.store(now + (now & 1), std::memory_order_relaxed);  // a ringer may have stored the very same value
  }
};
static_assert(sizeof(SleepingWord) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

// An eventfd, shared by inheritance. All calls are thread-safe and async-signal-safe, and none blocks.
class Doorbell {
 public:
  // Errors: RESOURCE_EXHAUSTED (no descriptors, no memory).
  static absl::StatusOr<Doorbell> create();
  // Takes over a descriptor made by create in this process or its ancestor.
  explicit Doorbell(Descriptor fd) : fd_(std::move(fd)) {}

  // Ends the sleep of whoever polls this bell, now or the next time. Many rings are as good as one.
  void ring() const;
  // Ends the sleep announced in `word`; of many ringers of one sleep few make the system call.
  void ring(SleepingWord& word) const;
  // Silences the bell. Only its owner's loop does that, before it polls for work.
  void drain() const;

  int fd() const { return fd_.get(); }

 private:
  Descriptor fd_;
};

}  // namespace ingot
