// The process of a view's publisher.
#pragma once

#include "services/launch/launch_spec.h"

namespace ingot::inline services_view_publisher {

// Runs until the supervisor tells it to leave. Returns the process's exit code.
int run_publisher_process(LaunchSpec spec);

}  // namespace ingot::services_view_publisher
