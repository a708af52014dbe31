// Background work: of the child that writes a snapshot, the thread that reads one, and threads that free large memory.
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

namespace ingot::inline core_planning {

// Prepares the calling thread, or process of one thread, for background work. Binds it to `cores`, those without a loop
// (empty: there are none, or they are unknown; a sibling thread of a loop's core counts as another core). On a loop's
// core it would delay that loop: an idle loop yields, and the helper then keeps the core for a scheduler's slice of
// milliseconds, whatever its nice value (docs/design/snapshots.md). On a spare core the nice value costs nothing.
// `name`: at most 15 characters, for ps and profilers.
inline void become_helper(const char* name, const std::vector<CoreId>& cores, int nice) {
  ::prctl(PR_SET_NAME, name);
  if (cores.empty() || !bind_this_thread(cores).ok()) {
    cpu_set_t everywhere;
    std::memset(&everywhere, 0xff, sizeof everywhere);
    ::sched_setaffinity(0, sizeof everywhere, &everywhere);
  }
  ::setpriority(PRIO_PROCESS, 0, nice);
}

// Destroys `thing` on a thread of its own, without waiting for it: the last close of a snapshot's file blocks until the
// kernel has freed its pages, some 0.1 s for each GiB (docs/design/snapshots.md). If no thread can be started, destroys
// it here. `cores` as above.
// REQUIRES: the destruction of `thing` touches nothing that another thread uses.
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

}  // namespace ingot::core_planning
