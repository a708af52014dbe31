#include "replication/replica/trees/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/check.h"
#include "core/planning/tree_planner/planner.h"
#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {
namespace {

// Two replicas on one core, in cycles: the line stays in its cache. Only the relation to other pairs matters.
constexpr double kSameCoreSendCycles = 30;
constexpr double kSameCoreReceiveCycles = 60;

bool share_cores(const TreePlan& plan, std::span<const int> members) {
  if (plan.machine.size() == 0 || plan.core.empty()) return true;
  std::vector<int> cores;
  for (const int member : members) cores.push_back(plan.core[member]);
  std::sort(cores.begin(), cores.end());
  return std::adjacent_find(cores.begin(), cores.end()) != cores.end();
}

int core_of(const TreePlan& plan, int member) { return plan.core.empty() ? 0 : plan.core[member]; }

// Hangs `rest` below `head` and further heads: about as many heads as each has nodes below it, so that no node sends
// more than twice the square root. `rest` is in order of preference as heads.
void hang_two_levels(Tree& tree, int head, std::span<const int> rest) {
  const auto count = static_cast<int>(rest.size());
  const int heads = count <= 2 ? count : static_cast<int>(std::ceil((std::sqrt(4.0 * count + 1) - 1) / 2));
  for (int i = 0; i < count; ++i) tree.children[i < heads ? head : rest[(i - heads) % heads]].push_back(rest[i]);
}

// The first member on each core, other than the root's, gets the message from the root: one line crosses to each core.
// Two levels within each core.
Tree plan_two_level(const TreePlan& plan, std::span<const int> members, std::span<const std::uint8_t> slowdown,
                    int size, int root) {
  Tree tree(size, root);
  std::map<int, std::vector<int>> by_core;
  for (const int member : members) {
    if (member != root) by_core[core_of(plan, member)].push_back(member);
  }
  for (auto& [core, here] : by_core) {
    std::stable_sort(here.begin(), here.end(), [&](int a, int b) { return slowdown[a] < slowdown[b]; });
    if (core == core_of(plan, root)) continue;
    tree.children[root].push_back(here.front());
    hang_two_levels(tree, here.front(), std::span<const int>(here).subspan(1));
  }
  if (const auto own = by_core.find(core_of(plan, root)); own != by_core.end())
    hang_two_levels(tree, root, own->second);
  return tree;
}

// By a planner of core/planning/tree_planner, over the members alone.
Tree plan_by_costs(const TreePlan& plan, const TreeConditions& conditions, std::span<const int> members,
                   std::span<const std::uint8_t> slowdown, int root) {
  const CostModel costs = replica_costs(plan, members, slowdown);
  const Planner* planner = find_planner(plan.shape == "star" ? "sequential" : plan.shape);
  INGOT_CHECK(planner != nullptr, "the shape was checked when it was given");
  PlanRequest request;
  request.root = static_cast<int>(std::find(members.begin(), members.end(), root) - members.begin());
  request.budget.evaluations = conditions.evaluations;
  auto planned = planner->plan(costs, request);
  if (!planned.ok()) planned = plan_sequential(costs, request);  // `exact` refuses groups of this size
  INGOT_CHECK(planned.ok());
  Tree tree(plan.replicas, root);
  for (int parent = 0; parent < planned->size(); ++parent) {
    for (const int child : planned->children[parent]) tree.children[members[parent]].push_back(members[child]);
  }
  return tree;
}

Tree plan_tree(const TreePlan& plan, const TreeConditions& conditions, std::span<const std::uint8_t> slowdown,
               int root) {
  const bool leader_apart = root != conditions.leader && !conditions.bypassed.contains(conditions.leader);
  std::vector<int> members;
  for (int replica = 0; replica < plan.replicas; ++replica) {
    const bool apart = conditions.bypassed.contains(replica) || (leader_apart && replica == conditions.leader);
    if (replica == root || !apart) members.push_back(replica);
  }
  const bool two_level = plan.shape == "two-level" || (plan.shape == "best" && share_cores(plan, members));
  Tree tree(plan.replicas, root);
  if (members.size() > 1) {
    tree = two_level ? plan_two_level(plan, members, slowdown, plan.replicas, root)
                     : plan_by_costs(plan, conditions, members, slowdown, root);
  }
  auto& first = tree.children[root];
  if (leader_apart) first.insert(first.begin(), conditions.leader);
  for (int replica = 0; replica < plan.replicas; ++replica) {
    if (replica != root && conditions.bypassed.contains(replica)) first.push_back(replica);
  }
  return tree;
}

}  // namespace

bool is_plain_star(const TreePlan& plan) {
  return plan.shape == "star" || plan.replicas < 3 || (plan.shape == "best" && plan.replicas < kTreeReplicasMin);
}

std::vector<std::string_view> tree_shapes() {
  std::vector<std::string_view> shapes{"best", "star", "two-level"};
  for (const Planner& planner : planners()) {
    const std::string_view name = planner.name;
    if (name != "best" && name != "sequential" && name != "exact") shapes.push_back(name);
  }
  return shapes;
}

CostModel replica_costs(const TreePlan& plan, std::span<const int> members, std::span<const std::uint8_t> slowdown) {
  CostModel costs;
  costs.name = "replicas";
  const auto count = static_cast<int>(members.size());
  costs.send = CycleMatrix(count);
  costs.receive = CycleMatrix(count);
  for (int from = 0; from < count; ++from) {
    const int from_core = core_of(plan, members[from]);
    costs.cores.push_back({CoreId(static_cast<CoreId::rep>(members[from])), from_core, 0});
    for (int to = 0; to < count; ++to) {
      if (to == from) continue;
      const int to_core = core_of(plan, members[to]);
      const bool same = from_core == to_core || plan.machine.size() == 0;
      const double send = same ? kSameCoreSendCycles : plan.machine.send.at(from_core, to_core);
      const double receive = same ? kSameCoreReceiveCycles : plan.machine.receive.at(from_core, to_core);
      costs.send.set(from, to, send * slowdown[members[from]]);
      costs.receive.set(from, to, receive * slowdown[members[to]]);
    }
  }
  return costs;
}

TreeSet plan_trees(const TreePlan& plan, const TreeConditions& conditions) {
  INGOT_CHECK(conditions.leader < plan.replicas && plan.voters <= plan.replicas);
  TreeSet set;
  set.leader = conditions.leader;
  set.bypassed = conditions.bypassed;
  set.slowdown = conditions.slowdown;
  set.slowdown.resize(static_cast<std::size_t>(plan.replicas), 1);
  set.trees.resize(static_cast<std::size_t>(plan.replicas));
  for (int root = 0; root < plan.voters; ++root) {
    set.trees[root].emplace(plan_tree(plan, conditions, set.slowdown, root));
  }
  return set;
}

}  // namespace ingot::replication_replica_trees
