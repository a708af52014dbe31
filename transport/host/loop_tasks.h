// Work that other threads hand over to an event loop: one queue and one doorbell.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/host/doorbell.h"
#include "transport/host/event_loop.h"
#include "transport/pollable.h"

namespace ingot::inline transport_host {

// post() may be called from any thread; all else belongs to the loop's thread. A busy loop finds the tasks in its next
// round; the doorbell only ends its sleep. The queue has no bound of its own: each caller of post() bounds the work
// that it has under way.
class LoopTasks final : public Pollable {
 public:
  using Task = std::function<void()>;

  // Errors: RESOURCE_EXHAUSTED (no descriptors).
  static absl::StatusOr<std::unique_ptr<LoopTasks>> create();

  // The loop runs the tasks from now on. To be called once, before the loop runs; this object outlives the loop.
  void attach(EventLoop& loop);

  // The loop's thread calls `task` soon, after those that were posted before. A task that is posted when the loop has
  // ended is never called.
  void post(Task task);

  // Blocks until there are tasks, for a thread that runs them by poll() after the loop has ended.
  void wait() const;

  int poll(std::uint64_t now_ns) override;
  bool readable() override { return waiting_.load(std::memory_order_acquire); }
  std::uint64_t deadline_ns() const override { return kNever; }

 private:
  explicit LoopTasks(Doorbell bell) : bell_(std::move(bell)) {}

  const Doorbell bell_;
  std::atomic<bool> waiting_{false};  // tasks_ is not empty; changed under mutex_, and read without it
  std::mutex mutex_;
  std::vector<Task> tasks_;    // guarded by mutex_
  std::vector<Task> running_;  // of the round; the loop's thread only
};

}  // namespace ingot::transport_host
