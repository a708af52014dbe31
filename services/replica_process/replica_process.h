// The main function of a process that runs one replica, or all of them as threads.
#pragma once

#include "services/launch/launch_spec.h"

namespace ingot::inline services_replica_process {

// Runs the replica that `spec` names, or all (spec.replica == -1) with one loop a core, until the supervisor sends
// Leave or the orphan grace is over. Sends Ready to the supervisor, or Failed with the reason. Returns the process's
// exit code.
int run_replica_process(LaunchSpec spec);

}  // namespace ingot::services_replica_process
