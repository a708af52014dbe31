// The adaptive tree of Smelt (Kaestle et al., OSDI 2016), from the paper's description (docs/trees.md):
//
//  1. The root is the core with the smallest sum of send costs.
//  2. A simulated broadcast: whenever a core is free, it chooses as its next receiver the one that costs most (send and
//     receive), so that long links start early. It may choose cores of its own NUMA node and, in each node without a
//     reached core, the core that is cheapest for it to send to.
//  3. Children are ordered anew, those with the longest way to go first.
//  4. The leaf that finishes last is moved under another parent as long as that makes the tree faster.
#include <tuple>

#include "core/planning/tree_planner/adaptive.h"

namespace ingot::inline core_planning_tree_planner {
namespace {

int cheapest_sender(const CostModel& model) {
  int best = 0;
  double best_sum = 0;
  for (int from = 0; from < model.size(); ++from) {
    double sum = 0;
    for (int to = 0; to < model.size(); ++to) sum += model.send.at(from, to);
    if (from == 0 || sum < best_sum) std::tie(best, best_sum) = std::tuple(from, sum);
  }
  return best;
}

// Moves the core that gets the message last, if it is a leaf. False: no parent is better.
bool move_last_leaf(const CostModel& model, Tree& tree) {
  const std::vector<int> path = critical_path(model, tree);
  const int leaf = path.back();
  if (path.size() < 2 || !tree.children[leaf].empty()) return false;
  const double before = predict(model, tree).broadcast;
  Tree without = tree;
  std::erase(without.children[path[path.size() - 2]], leaf);
  // For each other core: when would its new last child have the message?
  const std::vector<double> arrived = broadcast_arrivals(model, without);
  int best = -1;
  double best_at = before;
  for (int parent = 0; parent < model.size(); ++parent) {
    if (parent == leaf) continue;
    double at = arrived[parent] + model.edge(parent, leaf);
    for (const int child : without.children[parent]) at += model.send.at(parent, child);
    if (at < best_at) std::tie(best, best_at) = std::tuple(parent, at);
  }
  if (best < 0) return false;
  without.children[best].push_back(leaf);
  order_children(model, without);
  if (predict(model, without).broadcast >= before) return false;
  tree = std::move(without);
  return true;
}

}  // namespace

absl::StatusOr<Tree> plan_smelt(const CostModel& model, const PlanRequest& request) {
  Tree tree = grow_adaptively(model, request.root ? *request.root : cheapest_sender(model), 1);
  order_children(model, tree);
  for (int moved = 0; moved < model.size() && move_last_leaf(model, tree); ++moved) {
  }
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
