// Whether the flags of a new supervisor are those that the instance runs with.
#pragma once

#include "absl/status/status.h"
#include "services/config/daemon_config.h"

namespace ingot {

// `given` as it was parsed, before complete(): 0 voters and port 0 mean whatever runs. Errors: FAILED_PRECONDITION with
// one sentence that names the first flag that differs.
absl::Status flags_agree(const DaemonConfig& given, const DaemonConfig& running);

}  // namespace ingot
