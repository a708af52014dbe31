// DaemonConfig as a part of the launch document. Thread-safe.
#pragma once

#include "absl/status/statusor.h"
#include "proto/ingot/config/v1/config.pb.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_config {

namespace config_v1 = ::ingot::config::v1;

config_v1::Config to_message(const DaemonConfig& config);

// Bounds are not checked: complete() has done so. Errors: INVALID_ARGUMENT with one sentence: a setting that is
// unknown, missing or given twice, a text that is no value of its type, a number of 0 for cluster or member.
absl::StatusOr<DaemonConfig> from_message(const config_v1::Config& message);

}  // namespace ingot::services_config
