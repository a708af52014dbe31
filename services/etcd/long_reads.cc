#include "services/etcd/long_reads.h"

#include <utility>

#include "services/etcd/limits.h"

namespace ingot::etcd {

void LongReads::enter(std::function<void()> step) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(step));
  }
  run();
}

void LongReads::leave() {
  {
    const std::lock_guard lock(mutex_);
    --under_way_;
  }
  run();
}

// A step may end at once, and its leave() comes back here: a loop instead of a recursion.
void LongReads::run() {
  std::unique_lock lock(mutex_);
  if (running_) return;
  running_ = true;
  while (!waiting_.empty() && under_way_ < kLongReadStepsAtOnce) {
    const std::function<void()> step = std::move(waiting_.front());
    waiting_.pop_front();
    ++under_way_;
    lock.unlock();
    step();
    lock.lock();
  }
  running_ = false;
}

}  // namespace ingot::etcd
