// Long work beside a replica's loop: by the child that writes a snapshot, the thread that reads one, and threads that let
// go of large memory.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/planning/topology.h"
#include "core/types.h"

namespace ingot {

// Of the calling thread, or process of one thread. On none of the loops' cores if there are others (`cores`; empty: there
// are none, or they are not known; a sibling thread of a loop's core counts as another): a loop that has nothing to do
// yields, and what shares its core then keeps it for a scheduler's slice of milliseconds, whatever its nice value
// (docs/design/snapshots.md). Where there is a core to spare the nice value costs nobody anything. `name`: at most 15
// characters, for ps and profilers.
inline void become_helper(const char* name, const std::vector<CoreId>& cores, int nice) {
  ::prctl(PR_SET_NAME, name);
  if (cores.empty() || !bind_this_thread(cores).ok()) {
    cpu_set_t everywhere;
    std::memset(&everywhere, 0xff, sizeof everywhere);
    ::sched_setaffinity(0, sizeof everywhere, &everywhere);
  }
  ::setpriority(PRIO_PROCESS, 0, nice);
}

// Lets go of something on a thread of its own, whose end nobody waits for: whoever is the last to close a snapshot's file
// stands still until the kernel has freed its pages, some 0.1 s for each GiB (docs/design/snapshots.md). If no thread is to
// be had, here. `cores` as above. REQUIRES: the end of `thing` touches nothing that anybody else uses.
template <typename Thing>
void release_in_background(Thing thing, std::vector<CoreId> cores) {
  constexpr int kNice = 10;
  try {
    std::thread([thing = std::move(thing), cores = std::move(cores)]() mutable {
      become_helper("ingotd-release", cores, kNice);
      const Thing last = std::move(thing);
    }).detach();
  } catch (const std::system_error&) {
  }
}

}  // namespace ingot
