#include "services/launch/tree_launch.h"

#include <utility>

#include "core/planning/cost_model_file.h"
#include "replication/replica/trees/limits.h"

namespace ingot::inline services_launch {

namespace {

ReplicaSample::State state_of(const ProcessEntry& entry) {
  switch (static_cast<ProcessState>(entry.state.get())) {
    case ProcessState::kDead:
      return ReplicaSample::State::kDead;
    case ProcessState::kStopped:
      return ReplicaSample::State::kStopped;
    case ProcessState::kStarting:
    case ProcessState::kUp:
      break;
  }
  return ReplicaSample::State::kRunning;
}

}  // namespace

TreeLaunch launch_trees(const TreePlan& plan) {
  if (is_plain_star(plan)) return {};
  TreeConditions conditions;
  conditions.evaluations = kInitialEvaluations;
  TreeLaunch launch;
  launch.initial = encode(plan_trees(plan, conditions));
  launch.cores = plan.core;
  if (plan.machine.size() > 1) launch.machine = write_machine(plan.machine);
  return launch;
}

absl::StatusOr<std::optional<TreeOptions>> read_trees(const TreeLaunch& launch, const DaemonConfig& config,
                                                      const DaemonPage* daemon) {
  if (launch.initial.empty()) return std::nullopt;
  TreeOptions options;
  options.plan.replicas = config.replicas;
  options.plan.voters = config.voters;
  options.plan.shape = config.tree;
  if (!launch.machine.empty()) {
    auto machine = read_machine(launch.machine);
    if (!machine.ok()) return machine.status();
    options.plan.machine = *std::move(machine);
    options.plan.core = launch.cores;
  }
  auto initial = decode_tree_set(launch.initial, config.replicas);
  if (!initial) return absl::InvalidArgumentError("not a launch document: its trees are malformed");
  options.initial = *std::move(initial);
  if (daemon != nullptr) {
    options.state_of = [daemon](int replica) { return state_of(daemon->replicas[replica]); };
  }
  return options;
}

}  // namespace ingot::services_launch
