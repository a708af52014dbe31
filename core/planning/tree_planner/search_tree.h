// A tree for local search: updates its predicted cost after each small change, without a full prediction.
//
// Positions of the tree are slots, slot 0 the root; each slot holds a core. There are two kinds of changes: a subtree
// moves, or two slots exchange their cores. Children have no order: each prediction uses the best one.
//
// Both predictions go from the leaves up, since a subtree's share depends on nothing outside it: `down` is the time
// from a slot's having a broadcast until all slots below have it, `up` the time from the leaves' start until the slot
// has the reduction. So a change costs the two paths to the root.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"
#include "core/planning/tree_prediction.h"
#include "core/prng.h"

namespace ingot::inline core_planning_tree_planner {

class SearchTree {
 public:
  // Trees whose busiest core is busy for longer than `bottleneck_max` cycles are not allowed; the search may still
  // visit them, and allowed() tells. `model` must outlive this.
  // REQUIRES: a right tree over the model's cores.
  SearchTree(const CostModel& model, Objective objective, const Tree& tree, double bottleneck_max = kNoLimit);
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  int size() const { return static_cast<int>(slots_.size()); }
  double cost() const;
  bool allowed() const { return bottleneck_max_ == kNoLimit || bottleneck() <= bottleneck_max_; }

  // The core of each slot and its parent slot: cheaper to copy than a tree.
  struct Shape {
    std::vector<int> cores, parents;
  };
  void copy_shape(Shape& shape) const;
  // The tree of a shape of this search, children in the best order for a broadcast.
  Tree tree_of(const Shape& shape) const;
  Tree tree() const;

  // Exchanges the cores of two slots.
  void swap(int a, int b);
  // Moves a slot and all slots below it under another. Returns false, without effect, if `parent` is below it, or is
  // its parent already.
  // REQUIRES: slot is not the root.
  [[nodiscard]] bool move(int slot, int parent);
  // keep() makes all changes since the last keep() permanent, undo() reverts them.
  void keep();
  void undo();

  // A slot that determines the cost: on the path from the root to the last finisher, or next to the busiest. The root
  // only if it is alone.
  int critical_slot(Prng& random) const;

 private:
  struct Share {
    double down = 0, up = 0;
    double sends = 0;       // this slot's core sends to all its children
    double busy_below = 0;  // of the busiest core below this slot
    // The child that determines down, up, and the slot that determines busy_below; -1: none below.
    int down_by = -1, up_by = -1, busy_by = -1;
    bool operator==(const Share&) const = default;
  };
  // Costs between a slot's core and its parent's, kept here since the matrices of large machines are slow to read.
  struct ParentEdge {
    double send = 0, receive = 0;  // down
    double ready = 0;              // up: from the send's start until a receiver can begin its occupancy
    double occupancy = 0;
  };
  struct Slot {
    int core = 0;
    int parent = -1;
    std::vector<int> children;
    ParentEdge edge;
    Share share;
  };
  struct Job {
    double key, cycles;
    int child;
  };

  double bottleneck() const { return std::max(slots_[0].share.sends, slots_[0].share.busy_below); }
  void recompute(int slot);
  void recompute_down(const Slot& slot, Share& share);
  void recompute_up(const Slot& slot, Share& share);
  void recompute_busy(const Slot& slot, Share& share);
  void recompute_upwards(int slot);
  void read_edge(int slot);
  void read_edges_around(int slot);
  void hang(int slot, int parent);
  bool is_below(int slot, int ancestor) const;

  const CostModel& model_;
  const Objective objective_;
  const double bottleneck_max_;
  std::vector<Slot> slots_;
  std::vector<Job> jobs_;  // scratch
  struct Change {
    bool swapped;
    int a, b;  // the slots swapped, or the slot moved and its parent before
  };
  std::vector<Change> changes_;                  // since the last keep, in their order
  std::vector<std::pair<int, Share>> replaced_;  // former shares, in the order in which they were replaced
};

}  // namespace ingot::core_planning_tree_planner
