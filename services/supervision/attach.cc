#include "services/supervision/attach.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/instance/instance_name.h"
#include "services/supervision/flag_agreement.h"

namespace ingot::inline services_supervision {

absl::StatusOr<Attachment> attach(const DaemonConfig& config) {
  Attachment attachment;
  const std::string name = instance_name(config);
  if (name.empty()) return attachment;  // the port is free, so no instance has it
  Descriptor claim;
  if (auto status = claim_instance_name(name, claim); !status.ok()) return status;
  auto orphans = find_orphans(name);
  if (absl::IsNotFound(orphans.status())) return attachment;
  if (!orphans.ok()) return orphans.status();
  if (auto status = restore_agrees(config, orphans->known.spec().config); !status.ok()) return status;
  if (auto status = flags_agree(config, orphans->known.spec().config); !status.ok()) return status;
  auto instance = Instance::adopt(std::move(claim), std::move(orphans->known));
  if (!instance.ok()) return instance.status();
  attachment.instance = *std::move(instance);
  if (!config.restore.empty()) {
    attachment.instance->warn(absl::StrCat(
        "--restore is passed over: the instance that began with ", config.restore,
        " runs, and its state is newer; leave --restore out, since with it the death of all processes goes back to "
        "that file"));
  }
  attachment.orphans = std::move(orphans->processes);
  attachment.orphan_ms = orphans->orphan_ms;
  return attachment;
}

}  // namespace ingot::services_supervision
