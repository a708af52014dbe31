// What the trees of an instance are planned from: the shape that was asked for, the machine, and where replicas run.
#pragma once

#include "absl/status/statusor.h"
#include "core/planning/placement.h"
#include "core/planning/topology.h"
#include "replication/replica/trees/plan.h"
#include "services/config/daemon_config.h"

namespace ingot {

// --tree and --machine name something. Errors: INVALID_ARGUMENT with one sentence.
absl::Status check_tree_flags(const DaemonConfig& config);

// Costs come from config.machine, or are derived from the topology. Errors: INVALID_ARGUMENT with one sentence: the
// file cannot be read or is no machine file, or lacks a core where a replica runs.
absl::StatusOr<TreePlan> plan_from(const DaemonConfig& config, const Topology& topology, const Placement& placement);

}  // namespace ingot
