// A child of the supervisor: this very program, started again with a role.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/process/launch_spec.h"
#include "transport/shm/descriptor.h"

namespace ingot {

// Both ends of a control channel (services/process/control_channel.h); both are closed across exec.
struct ControlPair {
  Descriptor supervisor;
  Descriptor child;
};
absl::StatusOr<ControlPair> make_control_pair();

// Starts /proc/self/exe as "ingotd @ROLE LAUNCH_FD" with the descriptors of `spec` and `fabric_fds` inherited and
// everything else closed. Should the caller's thread die, the child is continued (SIGCONT), so that even a stopped one
// sees the end of its control channel. REQUIRES: the process has one thread. Returns the child's pid.
absl::StatusOr<pid_t> start_child(const std::string& role, const LaunchSpec& spec, const std::vector<int>& fabric_fds);

}  // namespace ingot
