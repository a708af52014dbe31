// The newest published snapshot as a process of the instance holds it, for whoever sends it as a backup.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/types.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_backup {

// Immutable. Its last owner lets go of the file in the background (docs/design/snapshots.md).
struct HeldSnapshot {
  HeldSnapshot(Slot slot, Descriptor fd, std::vector<CoreId> helper_cores)
      : slot(slot), fd(std::move(fd)), helper_cores(std::move(helper_cores)) {}
  ~HeldSnapshot();

  const Slot slot;  // slots below it are in the snapshot
  Descriptor fd;    // sealed against every change
  const std::vector<CoreId> helper_cores;
};

// Thread-safe.
class NewestSnapshot {
 public:
  // `helper_cores`: as core/planning/helper_cores.h.
  explicit NewestSnapshot(std::vector<CoreId> helper_cores) : helper_cores_(std::move(helper_cores)) {}

  // Duplicates the descriptor, which stays the caller's. One that is not newer is left out, and so is one for which
  // there is no descriptor left: it is offered again with the next message, or a newer one is.
  void offer(Slot slot, int fd);

  // Null: the newest one does not hold all slots below `below`.
  std::shared_ptr<const HeldSnapshot> get(Slot below) const;

 private:
  const std::vector<CoreId> helper_cores_;
  mutable std::mutex mutex_;
  std::shared_ptr<const HeldSnapshot> newest_;
};

}  // namespace ingot::services_backup
