// The other baseline of bench/front_end: a key-value service with empty handlers on ingotd's own loop.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace ingot::bench {

// Serves on `address` (HOST:PORT, an IPv4 address) until SIGTERM. An error if it cannot listen there.
absl::Status serve_empty_loop(const std::string& address);

}  // namespace ingot::bench
