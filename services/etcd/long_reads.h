// Lets reads of many steps take their steps round-robin, so that they delay nothing else by more than one step.
#pragma once

#include <deque>
#include <functional>
#include <mutex>

namespace ingot::etcd {

// A read of many keys asks the replicas for one page, or part, after the other. The first step is asked for at once,
// and is short. For each other step the read queues behind all reads that wait. So kLongReadStepsAtOnce requests of
// long reads are under way, however many such reads there are, and each read goes on.
//
// Thread-safe.
class LongReads {
 public:
  // Calls `step` when it is first in the queue, on this thread or on that of a leave(). The step, or what it has begun,
  // calls leave() once when it is done.
  void enter(std::function<void()> step);
  void leave();

 private:
  void run();

  std::mutex mutex_;
  std::deque<std::function<void()>> waiting_;  // at most one of each open call
  int under_way_ = 0;
  bool running_ = false;  // a thread begins steps; others leave that to it
};

}  // namespace ingot::etcd
