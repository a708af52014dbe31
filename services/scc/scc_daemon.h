// ingotd on the simulated chip: one process, with gRPC's threads and the chip's.
#pragma once

#include "absl/status/status.h"
#include "services/config/daemon_config.h"
#include "services/config/scc_config.h"

namespace ingot::inline services_scc {

// Serves until SIGTERM or SIGINT, then drains. Call it before the process has another thread. Errors: INVALID_ARGUMENT
// and ALREADY_EXISTS with one sentence, before anything is started; others if the chip cannot go on.
absl::Status run_scc_daemon(DaemonConfig config, const SccConfig& scc);

}  // namespace ingot::services_scc
