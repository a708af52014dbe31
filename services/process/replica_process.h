// The process of one replica, or of all of them as threads.
#pragma once

#include "services/process/launch_spec.h"

namespace ingot {

// Runs the replica that `spec` names, or all (spec.replica == -1) with one loop a core, until the supervisor's control
// channel ends. Tells the supervisor "ready" or why not. Returns the process's exit code.
int run_replica_process(LaunchSpec spec);

}  // namespace ingot
