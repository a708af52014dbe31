// The beginning of an instance from a backup.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_backup {

struct RestoreOrder {
  std::string file;
  std::int64_t bump_revision = 0;
  bool mark_compacted = false;
  std::string trees;  // the instance's first trees (TreeLaunch::initial); empty: it has none
};

struct Restored {
  Descriptor snapshot;  // as a replica would have published it, sealed
  Slot slot;            // slots below it are in the snapshot: one, which stands for the backup
  std::string summary;  // for the log
};

// The first slot of an instance that begins with a backup. No command is ever decided below it.
inline constexpr Slot kFirstSlotAfterRestore{1};

// Reads and checks the file in a child process, whose memory ends with it, and waits for that. REQUIRES: this process
// has one thread. Errors, one sentence each: INVALID_ARGUMENT (the file is missing or wrong), RESOURCE_EXHAUSTED.
absl::StatusOr<Restored> restore(const RestoreOrder& order);

}  // namespace ingot::services_backup
