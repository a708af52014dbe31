// The Unix sockets of this machine that listen, as the kernel lists them (sock_diag(7)).
//
// /proc/net/unix has them as lines of text with names as their users chose them, newlines included, so any user can
// forge a line. Here each name has its length.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace ingot::inline services_sockets {

struct ListeningSocket {
  std::string name;  // any bytes, without the zero byte in front
  std::uint32_t inode = 0;
  uid_t user = 0;  // who made it; only root can give a socket away
};

// Visits the sockets that listen, are of type SOCK_SEQPACKET and have an abstract name, of all users. Takes time in
// proportion to the machine's listening Unix sockets, and a fixed amount of memory. Errors: UNAVAILABLE (the kernel
// does not list them).
absl::Status visit_listening_sockets(absl::FunctionRef<void(ListeningSocket)> visit);

// Processes of this user that have the socket open.
std::vector<pid_t> holders_of_socket(std::uint32_t inode);

}  // namespace ingot::services_sockets
