// The limits of this process and its children (getrlimit) that an instance depends on.
#pragma once

#include "absl/status/status.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_instance {

// Raises the soft limits of open files, of a file's size and of processes to the hard ones, which children inherit.
void raise_limits();

// Checks that the limits leave room for an instance with these settings and some clients. Errors: FAILED_PRECONDITION
// with one sentence that names the limit, what is needed and what raises it.
// REQUIRES: a number of replicas in its range.
absl::Status check_limits(const DaemonConfig& config);

// Open files that the process with most of them needs at the most.
int descriptors_needed(const DaemonConfig& config);

}  // namespace ingot::services_instance
