// How a new supervisor connects to the processes of an instance whose supervisor has died.
//
// Each process listens on a socket of its instance (services/handover/process_sockets.h) as "replica/N", "replicas",
// "front-end" or "view". Connections of other users are refused. The messages on a connection
// (services/launch/supervision_channel.h):
//
//   child        Orphaned                the process has no supervisor
//                Failed, and the end     it has one
//   supervisor   Describe                to the children that together know everything, one after the other
//   child        Handover...             HandoverState::send()
//                Failed, and the end     it cannot send that now; it remains an orphan
//   supervisor   Adopted                 to all: this connection is the channel to the supervisor from now on
//
// Before Adopted the connection changes nothing: the child remains an orphan, and leaves when its orphan grace is over.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_handover {

// Connections that a stopped child has not accepted yet; more are refused.
inline constexpr int kSupervisorsWaitingMax = 16;

// In the child. REQUIRES: as listen_as. Errors: RESOURCE_EXHAUSTED (the socket cannot be
// made).
absl::StatusOr<Descriptor> listen_for_supervisor(const std::string& instance, const std::string& child);

// Accepts the next connection of this process's user, which may pass descriptors from then on. Connections of other
// users before it are closed: one call closes at most kSupervisorsWaitingMax + 1 of them. Invalid if there is none.
// Never blocks. Errors: RESOURCE_EXHAUSTED (one waits, and this process has no descriptor or memory for it: `listener`
// remains readable).
absl::StatusOr<Descriptor> accept_supervisor(int listener);

}  // namespace ingot::services_handover
