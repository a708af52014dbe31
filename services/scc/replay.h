// Runs a recording again, and compares where it ends.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/scc/recording.h"

namespace ingot {

// The same inputs at the same virtual times, as fast as this machine can. Errors: as ChipGroup::create; INTERNAL if the
// run takes another course than the recorded one: it says where.
absl::StatusOr<ChipSummary> replay(const Recording& recording);

// For `ingotd --scc-replay`: prints the summary as JSON to standard output. Errors: as read_recording and replay.
absl::Status run_replay(const std::string& path);

}  // namespace ingot
