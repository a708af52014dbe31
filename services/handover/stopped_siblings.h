// Continues the stopped processes of an instance. An orphan does this before it leaves, so that the others leave, too.
#pragma once

#include "services/launch/launch_spec.h"

namespace ingot::inline services_handover {

// Sends SIGCONT to each stopped process that the instance's DaemonPage names.
void continue_stopped_siblings(const LaunchSpec& spec);

}  // namespace ingot::services_handover
