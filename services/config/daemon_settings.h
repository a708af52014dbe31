// The settings of DaemonConfig, one after another, in the order of --help.
#pragma once

#include "absl/strings/str_cat.h"
#include "core/limits.h"
#include "services/config/daemon_config.h"
#include "services/config/setting.h"
#include "services/config/setting_text.h"

namespace ingot::inline services_config {

// Calls visit(const Setting<DaemonConfig, T>&) for each.
template <typename Visit>
void visit_settings(const DaemonConfig&, Visit&& visit) {
  using namespace settings;
  using Config = DaemonConfig;
  INGOT_DAEMON_SETTINGS(INGOT_SETTING_VISIT)
}

}  // namespace ingot::services_config
