#include "replication/replica/trees/monitor.h"

#include <algorithm>

#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {

TreeMonitor::TreeMonitor(int replicas)
    : endpoints_(static_cast<std::size_t>(replicas)), costs_(replicas), checks_since_wish_(kChangeChecks) {}

std::optional<TreeMonitor::Wish> TreeMonitor::check(const TreeSet& trees, int root, int leader,
                                                   std::span<const ReplicaSample> samples) {
  leader_ = leader;
  observe(trees, trees.of(root), samples);
  measure(trees, samples);
  if (checks_since_wish_ < kChangeChecks) ++checks_since_wish_;

  const ReplicaSet inner = trees.inner();
  ReplicaSet leave, come;
  for (int replica = 0; replica < trees.replicas(); ++replica) {
    const Endpoint& endpoint = endpoints_[replica];
    if (to_bypass(replica, trees, inner)) leave.insert(replica);
    const bool well = endpoint.well_checks >= std::max(endpoint.return_checks, kReturnChecks);
    if (trees.bypassed.contains(replica) && well) come.insert(replica);
  }
  suspects_ = suspects_ || !leave.empty();
  Wish wish{TreeReason::kBypass, {leader, (trees.bypassed | leave) - come, costs_.slowdown(), kReplanEvaluations}};
  if (leave.empty()) {
    if (!come.empty()) {
      wish.reason = TreeReason::kReturn;
    } else if (trees.leader != leader) {
      wish.reason = TreeReason::kLeader;
    } else if (costs_call(trees, inner)) {
      wish.reason = TreeReason::kCosts;
    } else {
      return std::nullopt;
    }
  }
  if (checks_since_wish_ < kChangeChecks) return std::nullopt;
  checks_since_wish_ = 0;
  costs_.planned();
  for (int replica = 0; replica < trees.replicas(); ++replica) {
    if (leave.contains(replica)) note_bypass(replica);
    // A replica that is stopped or dead now becomes a leaf, too, whatever the reason for the new plan.
    if (unfit(replica) && replica != leader) wish.conditions.bypassed.insert(replica);
  }
  return wish;
}

void TreeMonitor::observe(const TreeSet& trees, const RootedTree* tree, std::span<const ReplicaSample> samples) {
  bar_ = most_;
  for (const ReplicaSample& sample : samples) most_ = std::max(most_, sample.applied);
  progress_ = most_ > bar_;
  behind_ = dead_ = stranded_ = {};
  suspects_ = false;
  for (int replica = 0; replica < trees.replicas(); ++replica) {
    const ReplicaSample& sample = samples[replica];
    if (sample.applied > endpoints_[replica].applied) known_dead_.erase(replica);
    const bool dead = sample.state == ReplicaSample::State::kDead || known_dead_.contains(replica);
    if (dead && replica != leader_) dead_.insert(replica);
    if (!behind(replica, sample)) continue;
    behind_.insert(replica);
    if (!progress_ && !dead && sample.state == ReplicaSample::State::kRunning) stranded_.insert(replica);
  }
  for (int replica = 0; replica < trees.replicas(); ++replica) observe_one(replica, trees, tree, samples[replica]);
}

void TreeMonitor::observe_one(int replica, const TreeSet& trees, const RootedTree* tree, const ReplicaSample& sample) {
  Endpoint& endpoint = endpoints_[replica];
  endpoint.applied = sample.applied;
  const bool is_behind = behind_.contains(replica);
  const bool stopped = sample.state == ReplicaSample::State::kStopped;
  endpoint.stopped_checks = stopped ? std::min(endpoint.stopped_checks + 1, kStoppedChecks) : 0;
  const bool bypassed = trees.bypassed.contains(replica);
  const bool inner = tree != nullptr && tree->inner(replica) && !bypassed;
  const int parent = inner ? tree->parent[replica] : -1;
  const bool to_blame = inner && is_behind && (parent == tree->tree.root || !behind_.contains(parent));
  endpoint.slow_checks = to_blame ? std::min(endpoint.slow_checks + 1, kSlowChecks) : 0;
  if (to_blame || (stopped && !bypassed)) suspects_ = suspects_ || endpoint.stopped_checks < kStoppedChecks || to_blame;
  if (bypassed) {
    const bool unwell = is_behind || stopped || dead_.contains(replica);
    if (unwell) {
      endpoint.well_checks = 0;
    } else if (progress_) {
      endpoint.well_checks = std::min(endpoint.well_checks + 1, kReturnChecksMax);
    }
    endpoint.steady_checks = 0;
    return;
  }
  endpoint.well_checks = 0;
  if (endpoint.return_checks > 0 && ++endpoint.steady_checks >= kForgiveChecks) {
    endpoint.steady_checks = 0;
    endpoint.return_checks = endpoint.return_checks > kReturnChecks ? endpoint.return_checks / 2 : 0;
  }
}

bool TreeMonitor::unfit(int replica) const {
  return dead_.contains(replica) || endpoints_[replica].stopped_checks >= kStoppedChecks;
}

bool TreeMonitor::to_bypass(int replica, const TreeSet& trees, ReplicaSet inner) const {
  const bool depended_on = (inner - trees.bypassed).contains(replica) && replica != leader_;
  return depended_on && (unfit(replica) || endpoints_[replica].slow_checks >= kSlowChecks);
}

void TreeMonitor::note_bypass(int replica) {
  Endpoint& endpoint = endpoints_[replica];
  endpoint.return_checks = std::clamp(2 * endpoint.return_checks, kReturnChecks, kReturnChecksMax);
  endpoint.slow_checks = 0;
  endpoint.well_checks = 0;
}

void TreeMonitor::measure(const TreeSet& trees, std::span<const ReplicaSample> samples) {
  if (progress_ && ++window_checks_ >= kDriftWindowChecks) {
    window_checks_ = 0;
    std::vector<CostTotals> totals;
    for (const ReplicaSample& sample : samples) totals.push_back(sample.costs);
    costs_.window(totals, trees.slowdown);
  }
}

// A leaf that has become dear harms no other replica; one that was made a leaf for that, and is cheap again, may
// return.
bool TreeMonitor::costs_call(const TreeSet& trees, ReplicaSet inner) const {
  for (int replica = 0; replica < trees.replicas(); ++replica) {
    const bool depended_on = inner.contains(replica);
    if ((depended_on && costs_.dearer(replica)) || costs_.cheaper(replica)) return true;
  }
  return false;
}

}  // namespace ingot::replication_replica_trees
