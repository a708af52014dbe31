// The baseline of bench/front_end: a key-value service with empty handlers, configured like ingotd's.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace ingot::bench {

// Serves on `address` until SIGTERM. An error if it cannot listen there.
absl::Status serve_empty_kv(const std::string& address);

}  // namespace ingot::bench
