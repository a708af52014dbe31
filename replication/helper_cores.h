// Where the long work beside a replica's loop is done: by the child that writes a snapshot, and by the thread that reads one.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <cstring>
#include <vector>

#include "core/topology.h"
#include "core/types.h"

namespace ingot {

// Of the calling thread, or process of one thread. On none of the loops' cores if there are others (`cores`; empty: there
// are none, or they are not known): a loop that has nothing to do yields, and what shares its core then keeps it for a
// scheduler's slice of milliseconds, whatever its nice value (docs/decisions/0199). Where there is a core to spare the
// nice value costs nobody anything.
inline void become_helper(const std::vector<CoreId>& cores, int nice) {
  if (cores.empty() || !bind_this_thread(cores).ok()) {
    cpu_set_t everywhere;
    std::memset(&everywhere, 0xff, sizeof everywhere);
    ::sched_setaffinity(0, sizeof everywhere, &everywhere);
  }
  ::setpriority(PRIO_PROCESS, 0, nice);
}

}  // namespace ingot
