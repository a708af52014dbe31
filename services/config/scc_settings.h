// The settings of SccConfig, one after another, in the order of --help.
#pragma once

#include "services/config/scc_config.h"
#include "services/config/setting.h"
#include "services/config/setting_text.h"

namespace ingot::inline services_config {

namespace settings {

// The values that the core, mesh and memory clocks may have.
Range clocks();

}  // namespace settings

// Calls visit(const Setting<SccConfig, T>&) for each.
template <typename Visit>
void visit_settings(const SccConfig&, Visit&& visit) {
  using namespace settings;
  using Config = SccConfig;
  INGOT_SCC_SETTINGS(INGOT_SETTING_VISIT)
}

}  // namespace ingot::services_config
