// The first trees of an instance: the supervisor plans them once and passes them to the replicas' processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replication/pages/pages.h"
#include "replication/replica/trees/router.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_launch {

// Part of a LaunchSpec. All members empty: broadcasts are stars.
struct TreeLaunch {
  std::string initial;     // the first TreeSet as encode() writes it
  std::string machine;     // the machine file of the cores that replicas run on; empty: they run on one core
  std::vector<int> cores;  // by replica: index into the machine's cores
};

// Plans the first trees. REQUIRES: a plan of the instance's size and shape.
TreeLaunch launch_trees(const TreePlan& plan);

// In the child: the options that its replicas get; none for stars. `daemon`, if not null, outlives the options and
// gives the states of the replicas' processes. Errors: INVALID_ARGUMENT (anything that launch_trees does not write).
absl::StatusOr<std::optional<TreeOptions>> read_trees(const TreeLaunch& launch, const DaemonConfig& config,
                                                      const DaemonPage* daemon);

}  // namespace ingot::services_launch
