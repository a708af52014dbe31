// Turns for reads of many steps, so that they delay nothing else by more than one step.
#pragma once

#include <deque>
#include <functional>
#include <mutex>

namespace ingot::etcd {

// A read of many keys asks the replicas for one page, or part, after the other. Its first one is asked for at once, and
// is short; for each other one it takes a turn, behind all that wait: so kLongReadStepsAtOnce requests of long reads are
// under way, however many such reads there are, and each of them goes on.
//
// Thread-safe.
class LongReads {
 public:
  // Calls `step` when its turn has come, on this thread or on that of a leave(). The step, or what it began, ends its
  // turn by one leave().
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
