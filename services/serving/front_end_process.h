// The front end's process: the only one with gRPC and prometheus-cpp.
#pragma once

#include "services/process/launch_spec.h"

namespace ingot {

// Serves the gRPC API and the metrics until the supervisor says "drain" or its control channel ends. Tells the
// supervisor "ready" or why not. Returns the process's exit code.
int run_front_end_process(LaunchSpec spec);

}  // namespace ingot
