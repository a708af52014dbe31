// Frees a process's memory when it has died, away from its core and behind those who live.
//
// The kernel frees the memory of a dead process on the core where its last thread ended, a millisecond of an empty replica
// and a tenth of a second of a large one, and waitpid tells of the death only afterwards. Where replicas share cores, it
// is the survivors' core. The keeper is a process of its own that shares the memory of its parent and nothing else
// (clone with CLONE_VM): it sleeps until the parent has ended, then ends itself, as the last to hold the memory, wherever
// the scheduler puts it and with a low priority.
//
// Best effort: where it cannot be started, or is killed, the dying process frees its memory itself.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

namespace ingot {

// As ps -o comm shows it: its command line is its parent's.
inline constexpr const char* kDeferredReaperName = "ingotd-memory";

class DeferredReaper {
 public:
  // Runs on all cores that the calling thread may use now.
  DeferredReaper();
  // Of a process that ends by itself: then nothing is left behind.
  ~DeferredReaper();
  DeferredReaper(const DeferredReaper&) = delete;
  DeferredReaper& operator=(const DeferredReaper&) = delete;

 private:
  std::unique_ptr<std::byte[]> stack_;
  pid_t pid_ = -1;
};

}  // namespace ingot
