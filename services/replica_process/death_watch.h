// Reports the death of a stable segment's writer as soon as the kernel has marked it. waitpid is much slower: it
// returns only when the dead process's memory has been freed.
//
// When the owner of a robust mutex ends, the kernel wakes one sleeper on the mutex's futex word. A watch is a thread
// that sleeps on the words of all writers at once (futex_waitv). The watch that the kernel wakes first wakes the
// watches of the other processes, then reports the death in its own process. Before Linux 5.16 there is no futex_waitv:
// the watch reports nothing, and the replicas depend on the supervisor's report. The same holds when no thread can be
// started, and when the process whose watch was woken is stopped.
//
// A process with a watch may fork children that only allocate memory and make system calls, such as the snapshot
// writers: of the locks that such a child takes, the watch's thread holds only malloc's, which fork handles.
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

namespace ingot::inline services_replica_process {

// Thread-safe.
class DeathWatch {
 public:
  // `died` is called in the watch's thread, once for each incarnation that dies.
  explicit DeathWatch(std::function<void(EndpointId, Incarnation)> died);
  ~DeathWatch();

  // Watches the writer of a stable segment from now on, in place of an earlier incarnation of the same replica. The
  // writer may not have opened the segment yet, or may be dead already. `keep` keeps the memory mapped.
  void watch(EndpointId replica, Incarnation incarnation, std::span<const std::byte> segment,
             std::shared_ptr<const void> keep);

  // Number of deaths reported so far; incremented, with release, before `died` is called.
  const Counter& deaths() const { return deaths_; }

 private:
  struct Writer {
    Incarnation incarnation;
    std::span<const std::byte> segment;
    std::shared_ptr<const void> keep;
    bool told = false;  // its death was reported
  };

  void run();
  void poll();
  bool sleep();
  void call_off_sleep();

  const std::function<void(EndpointId, Incarnation)> died_;
  Counter deaths_;
  // Futex word; incremented to end the thread's sleep when writers_ or over_ has changed.
  std::atomic<std::uint32_t> changes_{0};
  std::atomic<bool> over_{false};
  std::mutex mutex_;
  std::map<std::uint16_t, Writer> writers_;  // by replica; guarded by mutex_
  std::thread thread_;
};

}  // namespace ingot::services_replica_process
