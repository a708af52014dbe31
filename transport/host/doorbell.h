// Wakes a sleeping endpoint, from any process: a word in shared memory shows that it sleeps, and an eventfd ends its
// sleep.
//
// The word counts up: odd while the endpoint sleeps or is about to, even while it is awake. A ringer that finds the
// word odd first writes the eventfd, then makes the word even, which saves other ringers the system call. A ringer that
// dies between the two has woken the sleeper. A ringer that was stopped between the two finds a newer count and changes
// nothing. So no ringer can undo the wake-up by another one.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "core/shared_cell.h"
#include "transport/host/descriptor.h"

namespace ingot::inline transport_host {

// One line of the fabric's memory. Zero-filled: awake.
struct alignas(64) SleepingWord {
  SharedCell<std::uint64_t> sleeps{0};

  // Any thread of any process. Relaxed: the fences of transport/waker.h order it.
  bool asleep() const { return (sleeps.load(std::memory_order_relaxed) & 1) != 0; }

  // Called by the endpoint's own loop only. Both are idempotent, and repair what an earlier incarnation left.
  void raise() { sleeps.store(sleeps.load(std::memory_order_relaxed) | 1, std::memory_order_relaxed); }
  void lower() {
    const std::uint64_t now = sleeps.load(std::memory_order_relaxed);
    sleeps.store(now + (now & 1), std::memory_order_relaxed);  // a ringer may have stored the same value
  }
};
static_assert(sizeof(SleepingWord) == 64 && SharedCell<std::uint64_t>::is_always_lock_free);

// An eventfd, shared by inheritance. All calls are thread-safe and async-signal-safe, and none blocks.
class Doorbell {
 public:
  // Errors: RESOURCE_EXHAUSTED (no descriptors, no memory).
  static absl::StatusOr<Doorbell> create();
  // Takes ownership of a descriptor that create made in this process or an ancestor.
  explicit Doorbell(Descriptor fd) : fd_(std::move(fd)) {}

  // Ends the sleep of the loop that polls this bell, now or next time. Several rings count as one.
  void ring() const;
  // Ends the sleep announced in `word`; of several ringers of one sleep few make the system call.
  void ring(SleepingWord& word) const;
  // Silences the bell. Only its owner's loop calls it, before it polls for work.
  void drain() const;

  int fd() const { return fd_.get(); }

 private:
  Descriptor fd_;
};

}  // namespace ingot::transport_host
