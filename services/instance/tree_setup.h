// Gathers what an instance's trees are planned from: the requested shape, the machine's costs, the replicas' cores.
#pragma once

#include "absl/status/statusor.h"
#include "core/planning/placement.h"
#include "core/planning/topology.h"
#include "replication/replica/trees/plan.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_instance {

// Checks that --tree names a known shape. Errors: INVALID_ARGUMENT with one sentence.
absl::Status check_tree_flags(const DaemonConfig& config);

// Costs come from the file config.machine, or are derived from the topology if that is empty. Errors: INVALID_ARGUMENT
// with one sentence: the file cannot be read, is no machine file, or lacks a core where a replica runs.
absl::StatusOr<TreePlan> plan_from(const DaemonConfig& config, const Topology& topology, const Placement& placement);

}  // namespace ingot::services_instance
