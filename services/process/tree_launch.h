// The trees of an instance on their way from the supervisor, which plans them once, to the replicas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replication/pages/pages.h"
#include "replication/replica/trees/router.h"
#include "services/config/daemon_config.h"

namespace ingot {

// Part of a LaunchSpec. All empty: broadcasts are stars.
struct TreeLaunch {
  std::string initial;     // the first TreeSet as encode() writes it
  std::string machine;     // the machine file of the cores that replicas run on; empty: it is one core
  std::vector<int> cores;  // by replica: index into the machine's cores
};

// Plans the first trees. REQUIRES: a plan of the instance's size and shape.
TreeLaunch launch_trees(const TreePlan& plan);

// In the child: what its replicas are given; nothing for stars. `daemon`, if not null, says how their processes are,
// and outlives them. Errors: INVALID_ARGUMENT, for anything that launch_trees did not write.
absl::StatusOr<std::optional<TreeOptions>> read_trees(const TreeLaunch& launch, const DaemonConfig& config,
                                                      const DaemonPage* daemon);

}  // namespace ingot
