// The yardstick of bench/front_end: a key-value service whose handlers return at once, set up as ingotd's is.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace ingot::bench {

// Serves on `address` until SIGTERM. An error if the address cannot be listened on.
absl::Status serve_empty_kv(const std::string& address);

}  // namespace ingot::bench
