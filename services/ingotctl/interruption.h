// SIGINT and SIGTERM for verbs that hold something, and give it back before they end.
#pragma once

#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>

namespace ingot::inline services_ingotctl {

// While it exists, these signals end nothing: they wait until somebody looks. To be made before the process has other
// threads, which inherit that. Thread-safe.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Waits for one, or for the end of a child, at most so long. True: one has come, now or before.
  bool wait(std::chrono::milliseconds longest);
  bool came() const;

  // The last one, if it was sent to this process alone, and not by a terminal to all of its group; once.
  std::optional<int> take_to_pass_on();

 private:
  sigset_t signals_;
  sigset_t before_;
  mutable std::mutex mutex_;
  bool came_ = false;               // guarded by mutex_
  std::optional<int> to_pass_on_;  // guarded by mutex_
};

}  // namespace ingot::services_ingotctl
