// The configuration of an instance as a message (proto/ingot/config/v1/config.proto), for its launch document.
#pragma once

#include "absl/status/statusor.h"
#include "proto/ingot/config/v1/config.pb.h"
#include "services/config/daemon_config.h"

namespace ingot {

namespace config_v1 = ::ingot::config::v1;

config_v1::Config to_message(const DaemonConfig& config);

// Errors: INVALID_ARGUMENT (a setting of an unknown name, one twice, one missing, a malformed value).
absl::StatusOr<DaemonConfig> from_message(const config_v1::Config& message);

}  // namespace ingot
