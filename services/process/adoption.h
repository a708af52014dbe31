// How a new supervisor connects to the processes of an instance whose supervisor has died.
//
// Each process listens on an abstract Unix socket "ingot/INSTANCE/CHILD", where CHILD is "replica/N", "replicas" or
// "front-end". It has no file and vanishes with its process. Connections of other users are refused. The messages on a
// connection (services/process/supervision_channel.h):
//
//   child        Orphaned                the process has no supervisor
//                Failed, and the end     it has one
//   supervisor   Describe                to the child of the largest generation
//   child        Handover...             HandoverState::send()
//   supervisor   Adopted                 to all: this connection is the channel to the supervisor from now on
//
// Before Adopted the connection changes nothing: the child remains an orphan, and leaves when its orphan grace is over.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot {

// Longest name of an instance, so that the socket addresses of its processes fit into sockaddr_un.
inline constexpr std::size_t kInstanceNameBytesMax = 90;

// Connections that a stopped child has not accepted yet; more are refused.
inline constexpr int kSupervisorsWaitingMax = 16;

// All functions REQUIRE that `instance` is at most kInstanceNameBytesMax bytes long.

// In the child. Errors: ALREADY_EXISTS (a process listens there already), RESOURCE_EXHAUSTED (the socket cannot be
// made).
absl::StatusOr<Descriptor> listen_for_supervisor(const std::string& instance, const std::string& child);

// Accepts the next connection. Invalid if there is none, or if it comes from another user (it is closed then). Never
// blocks.
Descriptor accept_supervisor(int listener);

struct ChildConnection {
  Descriptor fd;
  pid_t pid = 0;  // of the process that called listen(2)
};

// In the supervisor. Connecting to a stopped child works, too: the child answers when it is continued. Never blocks.
// Errors: NOT_FOUND (no process listens there), UNAVAILABLE (too many connections wait there already),
// PERMISSION_DENIED (the child runs as another user), RESOURCE_EXHAUSTED (no socket can be made).
absl::StatusOr<ChildConnection> connect_to_child(const std::string& instance, const std::string& child);

}  // namespace ingot
