// This machine and the placement of an instance's processes, as the control plane's message.
#pragma once

#include "absl/status/statusor.h"
#include "core/planning/topology.h"
#include "proto/ingot/control/v1/control.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_status {

// All cores that this process could be given, whatever its threads are bound to now. Takes milliseconds.
absl::StatusOr<Topology> whole_machine();

// Thread-safe: reads Counters only.
::ingot::control::v1::GetTopologyResponse read_topology(const Topology& machine, const InstanceView& view);

}  // namespace ingot::services_status
