// Connections of a load to its server.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "services/ingot_load/load_client.h"
#include "services/ingot_load/load_options.h"

namespace ingot::load {

// options.connections connections, each one of its own, all up; they come back by themselves when the server does.
// Unavailable, with a sentence, if that takes more than options.timeout.
absl::StatusOr<std::vector<Connection>> connect(const LoadOptions& options);

}  // namespace ingot::load
