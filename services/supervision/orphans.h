// Finds the orphans of an instance: the processes whose supervisor has died, with their handover state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/process/handover_state.h"
#include "services/process/supervision_channel.h"
#include "services/supervision/child.h"
#include "transport/host/descriptor.h"

namespace ingot {

// One process. It stays an orphan until Adopted is sent to it: destroying this object before changes nothing.
struct Orphan {
  std::string child;  // as in services/process/adoption.h
  pid_t pid = 0;
  Descriptor pidfd;
  SupervisionChannel channel;
  bool answered = false;  // false: it is stopped, and answers when it is continued
};

struct Orphans {
  std::vector<Orphan> processes;
  HandoverState known;
  std::int64_t orphan_ms = 0;  // how long they have been without a supervisor
};

// Waits at most kOrphanAnswerMs for an answer of the processes that are not stopped. REQUIRES: the caller holds the
// instance's name. Errors, one sentence each: NOT_FOUND (there are none), FAILED_PRECONDITION (they are of another
// version), UNAVAILABLE (not now: they are stopped, or about to end), ALREADY_EXISTS (they have a supervisor).
absl::StatusOr<Orphans> find_orphans(const std::string& instance);

// The role of a process by its name. REQUIRES: `child` is Orphan::child of a found orphan.
ChildRole role_of(const std::string& child, int replicas);

}  // namespace ingot
