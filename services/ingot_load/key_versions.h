// Reads how often each key of a run was put.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "services/ingot_load/load_options.h"
#include "services/ingot_load/write_ledger.h"

namespace ingot::load {

struct KeyVersions {
  Revision revision = 0;               // all are as of it
  std::vector<std::int64_t> versions;  // by key; 0: not there
};

// Reads linearizably; while the server is away, retries for `patience`. Errors: UNAVAILABLE.
absl::StatusOr<KeyVersions> read_key_versions(const LoadOptions& options, std::chrono::nanoseconds patience);

}  // namespace ingot::load
