// Runs a recording again and compares the result.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/log/log_format.h"
#include "services/scc/recording.h"

namespace ingot::inline services_scc {

// Runs the same inputs at the same virtual times, as fast as this machine can. Errors: as ChipGroup::create; INTERNAL
// if the run differs from the recorded one, with the place of the first difference.
absl::StatusOr<ChipSummary> replay(const Recording& recording);

// For `ingotd --scc-replay`: prints the summary as JSON to standard output, then begins the log with a line that says
// whether it was compared. Errors: as read_recording and replay.
absl::Status run_replay(const std::string& path, LogFormat format);

}  // namespace ingot::services_scc
