// Connects a load to its server.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "services/ingot_load/load_client.h"
#include "services/ingot_load/load_options.h"

namespace ingot::load {

// Returns options.connections separate connections, all up; each reconnects by itself when the server returns.
// Unavailable, with a sentence, if that takes longer than options.timeout.
absl::StatusOr<std::vector<Connection>> connect(const LoadOptions& options);

}  // namespace ingot::load
