// How a new supervisor and the processes of an instance whose supervisor has died find each other.
//
// Each process listens on an abstract socket "ingot/INSTANCE/CHILD", CHILD being "replica/N", "replicas" or
// "front-end": no file, gone with its process. Only processes of the same user get through. What is said then, in
// the datagrams of services/process/control_channel.h:
//
//   child        "instance VERSION NEWS ORPHAN_MS"   it has no supervisor, since so long; HandoverState::news()
//                "failed CODE TEXT", and the end     it has one
//   supervisor   "describe"                          to one that knows most
//   child        "described ..."                     HandoverState::send()
//   supervisor   "adopted"                           to all: this connection is the control channel from now on
//
// Until "adopted" nothing has changed: the child is an orphan still, and leaves when its grace is over.
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

// What a child without supervisor says first.
struct OrphanGreeting {
  std::string version;  // of its program; without spaces
  std::uint64_t generation = 0;
  std::int64_t orphan_ms = 0;

  std::string text() const;
  // Errors: INVALID_ARGUMENT.
  static absl::StatusOr<OrphanGreeting> parse(const std::string& text);
};

}  // namespace ingot
