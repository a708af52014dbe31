#include "core/planning/tree_planner/adaptive.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

namespace ingot::inline core_planning_tree_planner {
namespace {

std::size_t nodes_of(const CostModel& model) {
  int last = 0;
  for (const MachineCore& core : model.cores) last = std::max(last, core.numa_node);
  return static_cast<std::size_t>(last) + 1;
}

class Adaptive {
 public:
  Adaptive(const CostModel& model, int root, int entries_max)
      : model_(model),
        entries_max_(entries_max),
        tree_(model.size(), root),
        reached_(static_cast<std::size_t>(model.size()), false),
        entries_(nodes_of(model), 0) {
    ++entries_[node_of(root)];
    reach(root, 0);
  }

  Tree run() {
    while (!free_.empty()) {
      const auto [now, sender] = free_.top();
      free_.pop();
      const int receiver = choose(sender);
      if (receiver < 0) continue;
      tree_.children[sender].push_back(receiver);
      if (node_of(receiver) != node_of(sender)) ++entries_[node_of(receiver)];
      const double sent = now + model_.send.at(sender, receiver);
      reach(receiver, sent + model_.receive.at(sender, receiver));
      free_.emplace(sent, sender);
    }
    return std::move(tree_);
  }

 private:
  void reach(int core, double at_cycles) {
    reached_[core] = true;
    free_.emplace(at_cycles, core);
  }

  int node_of(int core) const { return model_.cores[core].numa_node; }

  bool may_choose(int sender, int core) const {
    if (reached_[core]) return false;
    if (node_of(core) == node_of(sender)) return true;
    return entries_[node_of(core)] < entries_max_;
  }

  // The receiver that a free sender chooses; -1: none is left for it.
  int choose(int sender) const {
    int dearest = -1;
    for (int core = 0; core < model_.size(); ++core) {
      if (!may_choose(sender, core)) continue;
      if (dearest < 0 || model_.edge(sender, core) > model_.edge(sender, dearest)) dearest = core;
    }
    return dearest < 0 || node_of(dearest) == node_of(sender) ? dearest : cheapest_of_node(sender, node_of(dearest));
  }

  int cheapest_of_node(int sender, int node) const {
    int cheapest = -1;
    for (int core = 0; core < model_.size(); ++core) {
      if (node_of(core) != node || reached_[core]) continue;
      if (cheapest < 0 || model_.send.at(sender, core) < model_.send.at(sender, cheapest)) cheapest = core;
    }
    return cheapest;
  }

  const CostModel& model_;
  const int entries_max_;
  Tree tree_;
  std::vector<bool> reached_;
  std::vector<int> entries_;  // by NUMA node: messages that came in from outside; the root counts as one
  using Free = std::pair<double, int>;  // time, core
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free_;
};

// The nearest core to `from` that is not reached; -1: there is none.
int nearest(const CostModel& model, int from, const std::vector<bool>& reached) {
  int best = -1;
  for (int core = 0; core < model.size(); ++core) {
    if (!reached[core] && (best < 0 || model.edge(from, core) < model.edge(from, best))) best = core;
  }
  return best;
}

struct Offer {
  double arrival;
  int sender, receiver;
  double free;  // when the sender is free
  auto operator<=>(const Offer&) const = default;
};

}  // namespace

Tree grow_adaptively(const CostModel& model, int root, int entries_max) {
  return Adaptive(model, root, entries_max).run();
}

Tree grow_by_earliest_arrival(const CostModel& model, int root) {
  Tree tree(model.size(), root);
  std::vector<bool> reached(static_cast<std::size_t>(model.size()), false);
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
  const auto offer = [&](int sender, double free) {
    const int receiver = nearest(model, sender, reached);
    if (receiver >= 0) offers.push({free + model.edge(sender, receiver), sender, receiver, free});
  };
  reached[root] = true;
  offer(root, 0);
  while (!offers.empty()) {
    const Offer first = offers.top();
    offers.pop();
    if (reached[first.receiver]) {
      offer(first.sender, first.free);
      continue;
    }
    reached[first.receiver] = true;
    tree.children[first.sender].push_back(first.receiver);
    offer(first.sender, first.free + model.send.at(first.sender, first.receiver));
    offer(first.receiver, first.arrival);
  }
  return tree;
}

Tree grow_chain(const CostModel& model, int root) {
  Tree tree(model.size(), root);
  std::vector<bool> reached(static_cast<std::size_t>(model.size()), false);
  reached[root] = true;
  for (int last = root, next; (next = nearest(model, last, reached)) >= 0; last = next) {
    tree.children[last].push_back(next);
    reached[next] = true;
  }
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
