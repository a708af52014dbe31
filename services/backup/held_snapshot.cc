#include "services/backup/held_snapshot.h"

#include <fcntl.h>

#include <utility>

#include "core/planning/helper_cores.h"

namespace ingot::inline services_backup {

HeldSnapshot::~HeldSnapshot() { release_in_background(std::move(fd), helper_cores); }

void NewestSnapshot::offer(Slot slot, int fd) {
  Descriptor own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own.valid()) return;
  auto offered = std::make_shared<const HeldSnapshot>(slot, std::move(own), helper_cores_);
  const std::lock_guard lock(mutex_);
  if (newest_ == nullptr || newest_->slot < slot) newest_.swap(offered);
}

std::shared_ptr<const HeldSnapshot> NewestSnapshot::get(Slot below) const {
  const std::lock_guard lock(mutex_);
  return newest_ != nullptr && newest_->slot >= below ? newest_ : nullptr;
}

}  // namespace ingot::services_backup
