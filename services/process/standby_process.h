// A process that is started before it is needed, and waits until the supervisor says who it is. Starting a program
// takes longer than most of what a new incarnation has to do besides: the kernel loads it, and the loader links 60
// libraries.
//
// The messages on its channel (services/process/supervision_channel.h): TakeDescriptors, once or several times, then
// TakeRole; from then on it is the channel of a process of that role.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "services/process/supervision_channel.h"
#include "transport/host/descriptor.h"

namespace ingot {

// In the supervisor. Makes the waiting process at the other end of `channel` one of a role, with these descriptors
// under their own numbers. Never blocks. Errors: as for SupervisionChannel::send; the process is of no use any more
// then.
absl::Status send_role(SupervisionChannel& channel, const std::string& role, std::span<const int> inherited,
                       int launch_fd, int control_fd);

struct StandbyRole {
  std::string word;  // "@replica"
  int launch_fd = -1;
};

// In the process: waits as long as it takes. None if the supervisor has ended, or sends anything else. ps shows the
// role from then on. `words` and `last` are the program's first argument and its last one, whose memory that needs.
std::optional<StandbyRole> wait_for_role(Descriptor channel, char* words, char* last);

}  // namespace ingot
