// A star over one core of each NUMA node, then a star inside each node. The root stands for its own node and sends to
// the other nodes first.
#include <map>

#include "core/planning/tree_planner/core_order.h"

namespace ingot::inline core_planning_tree_planner {

absl::StatusOr<Tree> plan_cluster(const CostModel& model, const PlanRequest& request) {
  const std::vector<int> order = root_first(model, request);
  Tree tree(model.size(), order.front());
  std::map<int, int> head_of_node;
  std::vector<int> others;
  for (const int core : order) {
    if (head_of_node.emplace(model.cores[core].numa_node, core).second) {
      if (core != tree.root) tree.children[tree.root].push_back(core);
    } else {
      others.push_back(core);
    }
  }
  for (const int core : others) tree.children[head_of_node[model.cores[core].numa_node]].push_back(core);
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
