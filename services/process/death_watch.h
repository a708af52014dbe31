// Tells of a writer's death as soon as the kernel has marked it: long before waitpid, which waits until the dead one's
// memory is freed.
//
// The kernel wakes one sleeper on the futex word of a robust mutex whose owner has ended. A watch is a thread that sleeps
// on the words of all writers at once; whoever the kernel wakes wakes the watches of the other processes, then tells its
// own. Where the kernel knows no such sleep (before Linux 5.16) nothing is told, and the supervisor's word has to do; so
// it has if the one that was woken is itself stopped.
//
// A process with a watch may fork children that do no more than allocate and make system calls, as those that write
// snapshots do: the thread holds no lock that such a child takes but malloc's, which fork looks after.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "core/counters.h"
#include "core/types.h"

namespace ingot {

// Thread-safe.
class DeathWatch {
 public:
  // `died` is called in the watch's thread, once an incarnation.
  explicit DeathWatch(std::function<void(EndpointId, Incarnation)> died);
  ~DeathWatch();

  // Watches the writer of a stable segment from now on, in place of an earlier incarnation of the same replica. It may not have
  // opened it yet. `keep` keeps the memory mapped.
  void watch(EndpointId replica, Incarnation incarnation, std::span<const std::byte> segment,
             std::shared_ptr<const void> keep);

  // Deaths told of so far; raised before `died` is called.
  const Counter& deaths() const { return deaths_; }

 private:
  struct Writer {
    Incarnation incarnation;
    std::span<const std::byte> segment;
    std::shared_ptr<const void> keep;
    bool told = false;
  };

  void run();
  void poll();
  bool sleep();
  void call_off_sleep();

  const std::function<void(EndpointId, Incarnation)> died_;
  Counter deaths_;
  // Raised to call off the sleep: something has changed, or it is over.
  std::atomic<std::uint32_t> changes_{0};
  std::atomic<bool> over_{false};
  std::mutex mutex_;
  std::map<std::uint16_t, Writer> writers_;  // by replica; under the mutex
  std::thread thread_;
};

}  // namespace ingot
