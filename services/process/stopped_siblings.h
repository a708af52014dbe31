// The last thing that an orphan does: those of its instance that are stopped are continued, so that they leave, too.
#pragma once

#include "services/process/launch_spec.h"

namespace ingot {

// Sends SIGCONT to the processes that the instance's page names, if they are stopped.
void continue_stopped_siblings(const LaunchSpec& spec);

}  // namespace ingot
