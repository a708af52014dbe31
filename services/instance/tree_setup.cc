#include "services/instance/tree_setup.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/planning/cost_model_derive.h"
#include "core/planning/cost_model_file.h"
#include "core/planning/limits.h"
#include "services/cli/cli.h"
#include "services/cli/regular_file.h"

namespace ingot::inline services_instance {

namespace {

absl::StatusOr<CostModel> read_machine_file(const std::string& path) {
  const auto text = read_regular_file(path, kMachineFileBytesMax);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--machine=", path, " ", text.status().message(), "; name a machine file"));
  }
  auto machine = read_machine(*text);
  if (machine.ok()) return machine;
  return absl::InvalidArgumentError(absl::StrCat("--machine=", path, ": ", machine.status().message()));
}

}  // namespace

absl::Status check_tree_flags(const DaemonConfig& config) {
  const auto shapes = tree_shapes();
  if (std::find(shapes.begin(), shapes.end(), config.tree) != shapes.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--tree=", config.tree, " is no tree; give ",
                                                 join_or(std::vector<std::string>(shapes.begin(), shapes.end()))));
}

absl::StatusOr<TreePlan> plan_from(const DaemonConfig& config, const Topology& topology, const Placement& placement) {
  TreePlan plan;
  plan.replicas = config.replicas;
  plan.voters = config.voters;
  plan.shape = config.tree;
  auto machine = config.machine.empty() ? derive_machine(topology, "this machine", Threads::kOnePerCore)
                                        : read_machine_file(config.machine);
  if (!machine.ok()) return machine.status();
  std::vector<CoreId> used;  // each core once, in the order of the replicas
  for (std::size_t replica = 0; replica < placement.replicas.size(); ++replica) {
    const CoreId core = placement.replicas[replica];
    if (machine->index_of(core) < 0) {
      return absl::InvalidArgumentError(absl::StrCat("--machine=", config.machine, " has no core ", core.value(),
                                                     ", where replica ", replica,
                                                     " runs; give a file of this machine"));
    }
    auto at = std::find(used.begin(), used.end(), core);
    if (at == used.end()) at = used.insert(used.end(), core);
    plan.core.push_back(static_cast<int>(at - used.begin()));
  }
  if (used.size() < 2) {
    plan.core.clear();  // one core: there are no costs to compare
    return plan;
  }
  auto restricted = restrict_to(*machine, used);
  if (!restricted.ok()) return restricted.status();
  plan.machine = *std::move(restricted);
  return plan;
}

}  // namespace ingot::services_instance
