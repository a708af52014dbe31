// What the two settings of automatic compaction mean together, as etcd reads them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "services/config/auto_compaction_mode.h"

namespace ingot::inline services_config {

// A plain value.
struct AutoCompaction {
  AutoCompactionMode mode = AutoCompactionMode::kPeriodic;
  std::int64_t keep = 0;  // of history: ms for kPeriodic, revisions for kRevision; 0: nothing is compacted

  bool on() const { return keep > 0; }
};

// `retention` is a number (of hours for kPeriodic, of revisions for kRevision) or, for kPeriodic, a duration. Errors:
// INVALID_ARGUMENT with one sentence. Thread-safe.
absl::StatusOr<AutoCompaction> parse_auto_compaction(AutoCompactionMode mode, const std::string& retention);

}  // namespace ingot::services_config
