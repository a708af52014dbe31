// A process that is started before it is needed, and waits until the supervisor says who it is. Starting a program takes
// longer than most of what a new incarnation has to do besides: the kernel loads it, and the loader links 60 libraries.
//
// What is said on its control channel, in the datagrams of services/process/control_channel.h:
//
//   supervisor   "take FLOOR N N ..."             with as many descriptors: they shall have these numbers, as if they had
//                                                 been inherited. All numbers that are ever said are below FLOOR
//   supervisor   "become ROLE LAUNCH CONTROL"     the word of its first argument, the launch document's descriptor, and the
//                                                 number that this channel shall have: it is the control channel from now on
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace ingot {

// In the supervisor. Makes the waiting process at the other end of `channel` one of a role, with these descriptors under
// their own numbers. Never blocks. Errors: as for send_message; the process is of no use any more then.
absl::Status send_role(int channel, const std::string& role, std::span<const int> inherited, int launch_fd, int control_fd);

struct StandbyRole {
  std::string word;  // "@replica"
  int launch_fd = -1;
};

// In the process: waits as long as it takes. None if the supervisor has ended, or says what nobody understands. ps shows
// the role from then on. `words` and `last` are the program's first argument and its last one, whose memory that needs.
std::optional<StandbyRole> wait_for_role(int channel, char* words, char* last);

}  // namespace ingot
