// How a new supervisor and the processes of an instance whose supervisor has died find each other.
//
// Each process listens on an abstract socket "ingot/INSTANCE/CHILD", CHILD being "replica/N", "replicas" or
// "front-end": no file, gone with its process. Only processes of the same user get through. The messages that follow
// (services/process/supervision_channel.h):
//
//   child        Orphaned                the process has no supervisor
//                Failed, and the end     it has one
//   supervisor   Describe                to the child of the largest generation
//   child        Handover...             HandoverState::send()
//   supervisor   Adopted                 to all: this connection is the channel to the supervisor from now on
//
// Until Adopted nothing has changed: the child is an orphan still, and leaves when its grace is over.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot {

// Longest name of an instance, so that those of its processes' sockets fit, too.
inline constexpr std::size_t kInstanceNameBytesMax = 90;

inline constexpr int kSupervisorsWaitingMax = 16;  // connections that a stopped child has not answered; then refused

// REQUIRES of all: the name is not longer than that.

// In the child. Errors: ALREADY_EXISTS (somebody listens there), RESOURCE_EXHAUSTED.
absl::StatusOr<Descriptor> listen_for_supervisor(const std::string& instance, const std::string& child);

// The next connection of this user's; invalid if there is none. Never blocks.
Descriptor accept_supervisor(int listener);

struct ChildConnection {
  Descriptor fd;
  pid_t pid = 0;  // of the process that began to listen
};

// In the supervisor. A stopped child is connected to just the same, and answers when it wakes. Never blocks.
// Errors: NOT_FOUND (nobody listens), UNAVAILABLE (too many wait there already), PERMISSION_DENIED (another user's).
absl::StatusOr<ChildConnection> connect_to_child(const std::string& instance, const std::string& child);

}  // namespace ingot
