#include "transport/host/loop_tasks.h"

#include <poll.h>

#include <utility>

namespace ingot::inline transport_host {

absl::StatusOr<std::unique_ptr<LoopTasks>> LoopTasks::create() {
  auto bell = Doorbell::create();
  if (!bell.ok()) return bell.status();
  return std::unique_ptr<LoopTasks>(new LoopTasks(*std::move(bell)));
}

// A ring before the loop sleeps is not lost: the bell stays readable until it is drained.
void LoopTasks::attach(EventLoop& loop) {
  loop.add(*this);
  loop.watch(bell_.fd(), [this] { bell_.drain(); });
}

// Only the first task of a round rings: until the loop takes the tasks, the bell is rung already.
void LoopTasks::post(Task task) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    first = !waiting_.exchange(true, std::memory_order_release);
  }
  if (first) bell_.ring();
}

void LoopTasks::wait() const {
  while (!waiting_.load(std::memory_order_acquire)) {
    pollfd rung{bell_.fd(), POLLIN, 0};
    if (::poll(&rung, 1, -1) > 0) bell_.drain();
  }
}

int LoopTasks::poll(std::uint64_t) {
  if (!readable()) return 0;
  {
    const std::lock_guard lock(mutex_);
    running_.swap(tasks_);
    waiting_.store(false, std::memory_order_relaxed);
  }
  const int count = static_cast<int>(running_.size());
  for (const Task& task : running_) task();
  running_.clear();
  return count;
}

}  // namespace ingot::transport_host
