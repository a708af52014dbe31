#include "core/planning/tree_planner/search_tree.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace ingot::inline core_planning_tree_planner {

SearchTree::SearchTree(const CostModel& model, Objective objective, const Tree& tree, double bottleneck_max)
    : model_(model), objective_(objective), bottleneck_max_(bottleneck_max), slots_(tree.children.size()) {
  const std::vector<int> order = preorder_of(tree);
  std::vector<int> slot_of(order.size());
  for (std::size_t slot = 0; slot < order.size(); ++slot) {
    slot_of[order[slot]] = static_cast<int>(slot);
    slots_[slot].core = order[slot];
  }
  for (Slot& slot : slots_) {
    for (const int child : tree.children[slot.core]) {
      slot.children.push_back(slot_of[child]);
      slots_[slot_of[child]].parent = slot_of[slot.core];
    }
  }
  for (int slot = 1; slot < size(); ++slot) read_edge(slot);
  for (int slot = size() - 1; slot >= 0; --slot) recompute(slot);
}

double SearchTree::cost() const {
  const Share& root = slots_[0].share;
  switch (objective_) {
    case Objective::kBroadcast:
      return root.down;
    case Objective::kReduction:
      return root.up;
    case Objective::kBarrier:
      return root.up + root.down;
    case Objective::kThroughput:
      return bottleneck();
  }
  INGOT_CHECK(false, "an objective outside its enum");
}

void SearchTree::copy_shape(Shape& shape) const {
  shape.cores.resize(slots_.size());
  shape.parents.resize(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    shape.cores[i] = slots_[i].core;
    shape.parents[i] = slots_[i].parent;
  }
}

Tree SearchTree::tree_of(const Shape& shape) const {
  Tree tree(size(), shape.cores[0]);
  for (std::size_t i = 1; i < shape.cores.size(); ++i) {
    tree.children[shape.cores[shape.parents[i]]].push_back(shape.cores[i]);
  }
  for (auto& children : tree.children) std::sort(children.begin(), children.end());
  order_children(model_, tree);
  return tree;
}

Tree SearchTree::tree() const {
  Shape shape;
  copy_shape(shape);
  return tree_of(shape);
}

void SearchTree::swap(int a, int b) {
  changes_.push_back({true, a, b});
  std::swap(slots_[a].core, slots_[b].core);
  read_edges_around(a);
  read_edges_around(b);
  // The costs of both a slot and its parent have changed, even if the slot's own share has not.
  for (const int slot : {a, b}) {
    recompute_upwards(slot);
    if (slots_[slot].parent >= 0) recompute_upwards(slots_[slot].parent);
  }
}

bool SearchTree::move(int slot, int parent) {
  const int before = slots_[slot].parent;
  if (parent == before || is_below(parent, slot)) return false;
  changes_.push_back({false, slot, before});
  hang(slot, parent);
  recompute_upwards(before);
  recompute_upwards(parent);
  return true;
}

void SearchTree::keep() {
  changes_.clear();
  replaced_.clear();
}

void SearchTree::undo() {
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    if (change->swapped) {
      std::swap(slots_[change->a].core, slots_[change->b].core);
      read_edges_around(change->a);
      read_edges_around(change->b);
    } else {
      hang(change->a, change->b);
    }
  }
  // A slot may have been computed twice: its first share here is the former one.
  for (auto at = replaced_.rbegin(); at != replaced_.rend(); ++at) slots_[at->first].share = at->second;
  keep();
}

int SearchTree::critical_slot(Prng& random) const {
  if (size() == 1) return 0;
  if (objective_ == Objective::kThroughput) {
    const Share& root = slots_[0].share;
    const int busiest = root.sends >= root.busy_below ? 0 : root.busy_by;
    const auto& children = slots_[busiest].children;
    if (busiest != 0 && (children.empty() || random.chance(0.3))) return busiest;
    return children[random.below(children.size())];
  }
  const bool up = objective_ == Objective::kReduction || (objective_ == Objective::kBarrier && random.chance(0.5));
  const auto next = [&](int slot) { return up ? slots_[slot].share.up_by : slots_[slot].share.down_by; };
  int chosen = 0;
  std::uint64_t seen = 0;  // length of the path so far; each of its slots has the same probability
  for (int slot = next(0); slot >= 0; slot = next(slot)) {
    if (random.below(++seen) == 0) chosen = slot;
  }
  return chosen;
}

// A slot's share depends on its children's only: if it is unchanged, so are all shares above.
void SearchTree::recompute_upwards(int slot) {
  for (; slot >= 0; slot = slots_[slot].parent) {
    const Share before = slots_[slot].share;
    recompute(slot);
    if (slots_[slot].share == before) return;
    replaced_.emplace_back(slot, before);
  }
}

void SearchTree::read_edge(int index) {
  Slot& slot = slots_[index];
  const int core = slot.core, parent = slots_[slot.parent].core;
  const Arrival arrival = arrival_of(model_, core, parent, 0);
  slot.edge = {model_.send.at(parent, core), model_.receive.at(parent, core), arrival.ready, arrival.occupancy};
}

void SearchTree::read_edges_around(int slot) {
  if (slots_[slot].parent >= 0) read_edge(slot);
  for (const int child : slots_[slot].children) read_edge(child);
}

void SearchTree::recompute(int index) {
  Slot& slot = slots_[index];
  slot.share = Share();
  if (slot.children.empty()) return;
  const bool busy_only = objective_ == Objective::kThroughput;
  if (busy_only || bottleneck_max_ != kNoLimit) recompute_busy(slot, slot.share);
  if (busy_only) return;
  if (objective_ != Objective::kReduction) recompute_down(slot, slot.share);
  if (objective_ != Objective::kBroadcast) recompute_up(slot, slot.share);
}

void SearchTree::recompute_down(const Slot& slot, Share& share) {
  jobs_.clear();
  for (const int child : slot.children) {
    const ParentEdge& edge = slots_[child].edge;
    jobs_.push_back({edge.receive + slots_[child].share.down, edge.send, child});
  }
  std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) { return a.key > b.key; });
  double sent = 0;
  for (const Job& job : jobs_) {
    sent += job.cycles;
    if (sent + job.key <= share.down) continue;
    share.down = sent + job.key;
    share.down_by = job.child;
  }
}

void SearchTree::recompute_up(const Slot& slot, Share& share) {
  jobs_.clear();
  for (const int child : slot.children) {
    const ParentEdge& edge = slots_[child].edge;
    jobs_.push_back({slots_[child].share.up + edge.ready, edge.occupancy, child});
  }
  std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) { return a.key < b.key; });
  for (const Job& job : jobs_) {
    if (job.key > share.up) {  // the receiver waited for this one, so earlier ones do not matter
      share.up = job.key;
      share.up_by = job.child;
    }
    share.up += job.cycles;
  }
}

void SearchTree::recompute_busy(const Slot& slot, Share& share) {
  for (const int child : slot.children) {
    const Slot& below = slots_[child];
    share.sends += below.edge.send;
    const double busy = below.edge.receive + below.share.sends;
    if (busy > share.busy_below) {
      share.busy_below = busy;
      share.busy_by = child;
    }
    if (below.share.busy_below > share.busy_below) {
      share.busy_below = below.share.busy_below;
      share.busy_by = below.share.busy_by;
    }
  }
}

void SearchTree::hang(int slot, int parent) {
  auto& before = slots_[slots_[slot].parent].children;
  *std::find(before.begin(), before.end(), slot) = before.back();
  before.pop_back();
  slots_[parent].children.push_back(slot);
  slots_[slot].parent = parent;
  read_edge(slot);
}

bool SearchTree::is_below(int slot, int ancestor) const {
  while (slot >= 0 && slot != ancestor) slot = slots_[slot].parent;
  return slot == ancestor;
}

}  // namespace ingot::core_planning_tree_planner
