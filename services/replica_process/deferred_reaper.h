// Frees a process's memory after its death at low priority and, where possible, off the survivors' cores.
//
// The kernel frees the memory of a dead process on the core where its last thread ended, and waitpid reports the death
// only afterwards. That takes a millisecond for an empty replica and a tenth of a second for a large one. Where
// replicas share cores, it takes this time from the survivors. The deferred reaper is a separate process that shares
// its parent's memory and nothing else (clone with CLONE_VM). It sleeps until the parent has ended, then ends itself.
// As it is the last process to hold the memory, the kernel frees the memory then, at the reaper's low priority and on
// any core that the scheduler chooses for it.
//
// Best effort: if the reaper cannot be started, or is killed, the dying process frees its memory itself.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

namespace ingot::inline services_replica_process {

// Its name in `ps -o comm`; its command line is its parent's.
inline constexpr const char* kDeferredReaperName = "ingotd-memory";

class DeferredReaper {
 public:
  // Starts the reaper, which may run on all cores that the calling thread may use now.
  DeferredReaper();
  // Kills the reaper and waits for its end, so that a process that ends in order leaves no reaper behind.
  ~DeferredReaper();
  DeferredReaper(const DeferredReaper&) = delete;
  DeferredReaper& operator=(const DeferredReaper&) = delete;

 private:
  std::unique_ptr<std::byte[]> stack_;
  pid_t pid_ = -1;
};

}  // namespace ingot::services_replica_process
