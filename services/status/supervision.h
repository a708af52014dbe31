// Whether an instance has a running supervisor and, while it has none, what the kernel says of its processes: nothing
// else keeps their states on DaemonPage up to date.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/ingot/control/v1/control.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_status {

// The supervisor's state at `now_ns` of CLOCK_MONOTONIC: up, stopped or dead. None: the pages name no supervisor, as on
// the simulated chip. Thread-safe.
std::optional<::ingot::control::v1::Supervisor> read_supervisor(const DaemonConfig& config, const InstanceView& view,
                                                                std::uint64_t now_ns);

// The state of the entry's process as the kernel knows it; kUp also for one that is starting. Thread-safe.
ProcessState state_in_kernel(const ProcessEntry& entry);

}  // namespace ingot::services_status
