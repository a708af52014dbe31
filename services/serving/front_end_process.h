// The front end's process, the only one that initialises gRPC and prometheus-cpp.
#pragma once

#include "services/launch/launch_spec.h"

namespace ingot::inline services_serving {

// Serves the gRPC API and the metrics until the supervisor sends Drain or Leave, or the grace of an orphan is over.
// Reports to the supervisor that it is ready, or why it cannot start. Returns the process's exit code.
int run_front_end_process(LaunchSpec spec);

}  // namespace ingot::services_serving
