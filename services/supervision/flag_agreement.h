// Compares the flags of a new supervisor with those that the instance runs with.
#pragma once

#include "absl/status/status.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_supervision {

// `given` as it was parsed, before complete(): 0 voters mean the default for its replicas, 0 loops any number, a quota
// of 0 bytes any quota, port 0 any port of the host, and kAutomaticSocket whatever Unix socket the instance has. Errors:
// FAILED_PRECONDITION with one sentence that names the first flag that differs.
absl::Status flags_agree(const DaemonConfig& given, const DaemonConfig& running);

// Whether a supervisor that is given --restore may attach: it may to the instance that began with the same file and
// the same flags for it. Else a unit file with --restore would end in a refusal, and later, when the instance has left,
// in the file's old state. Errors: FAILED_PRECONDITION with one sentence.
absl::Status restore_agrees(const DaemonConfig& given, const DaemonConfig& running);

}  // namespace ingot::services_supervision
