// The abstract Unix sockets on which the processes of an instance listen, and how they are found.
//
//   "ingot/INSTANCE/PROCESS/TAG"    PROCESS: a replica's id; "r" all replicas, "f" the front end, "v" the
//                                   view's publisher, "s" the supervisor
//                                   TAG: random, new for each process
//
// A socket has no file, vanishes with its process, and is listed by the kernel with its name and its owner
// (services/sockets/listening_sockets.h). Every user of the machine can bind any free name. So no process needs a
// certain name: it takes one that cannot be guessed, and is found by the part in front of the tag. Sockets of other
// users are passed over. Two users may have instances of one name.
//
// Every user can connect to them, too. What strangers pass must not stop a process
// (services/sockets/passed_descriptors.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/config/limits.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_handover {

inline constexpr const char* kSupervisorProcess = "supervisor";

struct InstanceSocket {
  std::string process;  // "replica/N", "replicas", "front-end", "view" or kSupervisorProcess
  std::string name;     // without the zero byte in front
  std::uint32_t inode = 0;
};

// All functions REQUIRE that fault_in_instance_name finds no fault in `instance`, which is not empty.

struct Listener {
  Descriptor fd;  // non-blocking, closed on exec, takes no passed descriptors; to be closed by close_unread()
  std::string name;
};

// Listens as the process. At most `waiting_max` connections that were not accepted wait; more are refused. Errors:
// RESOURCE_EXHAUSTED.
absl::StatusOr<Listener> listen_as(const std::string& instance, const std::string& process, int waiting_max);

// The sockets of this process's user that listen under names of this instance. While other sockets close, the kernel's
// list may, though rarely, lack one that listens all the time. Errors: UNAVAILABLE (the kernel does not list them).
absl::StatusOr<std::vector<InstanceSocket>> find_sockets(const std::string& instance);

struct InstanceConnection {
  Descriptor fd;  // takes passed descriptors
  pid_t pid = 0;  // of the process that called listen(2)
};

// Another user may fill the queue of a socket with connections, again and again. So while too many wait there, this is
// tried until `until`, unless a process that should accept them is stopped. Without `until` it never blocks. Errors:
// NOT_FOUND (no process listens there any more), UNAVAILABLE (the socket takes no connection, mostly since too many
// wait there; with the processes that have it), PERMISSION_DENIED (the process runs as another user),
// RESOURCE_EXHAUSTED (no socket can be made).
absl::StatusOr<InstanceConnection> connect_to(const InstanceSocket& socket,
                                              std::chrono::steady_clock::time_point until = {});

// Whether the other end of a connection runs as this process's user.
bool same_user(int connection, pid_t& pid);

}  // namespace ingot::services_handover
