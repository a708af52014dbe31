// A standby process: started before it is needed, it waits until the supervisor gives it a role. This saves a new
// incarnation the start of a program, which takes longer than most of its other steps: the kernel loads the program,
// and the loader links 60 libraries.
//
// The supervisor sends on its channel (services/launch/supervision_channel.h) one or more TakeDescriptors messages,
// then TakeRole. From then on it is the supervision channel of a process of that role.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "services/launch/supervision_channel.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_launch {

// In the supervisor. Gives the standby process at the other end of `channel` a role. It gets the descriptors
// `inherited` and `launch_fd` under the numbers that they have here, and its end of the channel under the number
// `control_fd`. Never blocks. Errors: as for SupervisionChannel::send; the standby process is then of no further use.
absl::Status send_role(SupervisionChannel& channel, const std::string& role, std::span<const int> inherited,
                       int launch_fd, int control_fd);

struct StandbyRole {
  std::string word;    // the program's first argument, for example "@replica"
  int launch_fd = -1;  // the launch document
};

// In the standby process: waits for the role, without a time limit. None if the supervisor has ended or sends any other
// message, or if the descriptors cannot take their numbers. On success ps shows the role: it is written over the
// program's arguments, of which `words` is the first and `last` the last.
std::optional<StandbyRole> wait_for_role(Descriptor channel, char* words, char* last);

}  // namespace ingot::services_launch
