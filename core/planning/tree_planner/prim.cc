#include "core/planning/tree_planner/prim.h"

namespace ingot::inline core_planning_tree_planner {

Tree grow_tree(const CostModel& model, int root, Prefer prefer) {
  const double sign = prefer == Prefer::kCheapest ? 1 : -1;
  const auto key = [&](int from, int to) { return sign * model.edge(from, to); };
  Tree tree(model.size(), root);
  std::vector<int> parent(static_cast<std::size_t>(model.size()), root);  // best so far of cores not reached
  std::vector<bool> reached(static_cast<std::size_t>(model.size()), false);
  reached[root] = true;
  for (int added = 1; added < model.size(); ++added) {
    int next = -1;
    for (int core = 0; core < model.size(); ++core) {
      if (!reached[core] && (next < 0 || key(parent[core], core) < key(parent[next], next))) next = core;
    }
    reached[next] = true;
    tree.children[parent[next]].push_back(next);
    for (int core = 0; core < model.size(); ++core) {
      if (!reached[core] && key(next, core) < key(parent[core], core)) parent[core] = next;
    }
  }
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
