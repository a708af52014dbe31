// A new supervisor for an instance whose old one has died.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "services/config/daemon_config.h"
#include "services/handover/orphans.h"
#include "services/instance/instance.h"

namespace ingot::inline services_supervision {

struct Attachment {
  std::unique_ptr<Instance> instance;  // null: there is nothing to attach to
  std::vector<Orphan> orphans;
  std::int64_t orphan_ms = 0;
};

// Looks for an instance of the configuration's name (default: from the port of its --listen) that has no supervisor.
// Errors: those of find_orphans, restore_agrees, flags_agree, Instance::adopt, claim_instance_name; then nothing has
// changed.
absl::StatusOr<Attachment> attach(const DaemonConfig& config);

}  // namespace ingot::services_supervision
