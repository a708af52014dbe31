// Finds the orphans of an instance: the processes whose supervisor has died, with their handover state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "services/handover/handover_state.h"
#include "services/handover/process_sockets.h"
#include "services/handover/told.h"
#include "services/launch/supervision_channel.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_handover {

// One process. It stays an orphan until Adopted is sent to it: destroying this object before changes nothing.
struct Orphan {
  std::string child;  // InstanceSocket::process
  pid_t pid = 0;
  Descriptor pidfd;
  SupervisionChannel channel;
  bool answered = false;  // false: it is stopped, and answers when it is continued
  Told told{};            // what it knows of the instance, as far as it has said so
};

struct Orphans {
  std::vector<Orphan> processes;
  HandoverState known;         // what all of them know together
  std::int64_t orphan_ms = 0;  // how long they have been without a supervisor
};

using FindSockets = absl::FunctionRef<absl::StatusOr<std::vector<InstanceSocket>>(const std::string& instance)>;

// Waits at most kOrphanConnectMs for room in the queues of the processes, and then, in each of at most kOrphanTries
// tries, at most kOrphanAnswerMs for an answer of those that are not stopped. What DaemonPage shows as a process
// that still runs is among those that are returned. REQUIRES: the caller holds the instance's name. Errors, one
// sentence each: NOT_FOUND (there are none), FAILED_PRECONDITION (they are of another version), UNAVAILABLE (not now:
// they are stopped, or about to end), ABORTED (one runs, but cannot be found or connected to), ALREADY_EXISTS (they
// have a supervisor).
absl::StatusOr<Orphans> find_orphans(const std::string& instance, FindSockets find = find_sockets);

}  // namespace ingot::services_handover
