// An optimal tree, for small groups, by dynamic programming over sets of cores; for a barrier by trying all trees.
//
// Broadcast: let D(p, S) be the shortest time in which core p, which has the message, can bring it to all of S. Its
// first child c takes some part T of S, so D(p, S) is the least over c in T of
//   max(send(p, c) + receive(p, c) + D(c, T - c),  send(p, c) + D(p, S - T)).
// Reduction: let U(p, S) be the shortest time in which p can have the messages of all of S. The child c that it takes
// last has some part T, so U(p, S) is the least over c in T of
//   max(U(p, S - T),  U(c, T - c) + send(c, p) + receive(c, p) - occupancy(c, p)) + occupancy(c, p).
// Throughput: can every core be busy for less than B? F(p, S) is the least time that p must spend on sends so that S is
// reached and no core of S is busy for B or more. B falls until the answer is no.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/planning/tree_planner/all_trees.h"
#include "core/planning/tree_planner/planner.h"

namespace ingot::inline core_planning_tree_planner {
namespace {

using Set = std::uint32_t;  // of cores, one bit each

constexpr double kNever = std::numeric_limits<double>::infinity();

// Cost(p, S) by core and set, and the tree that has it. `Rule` gives the cost of a child with its part.
template <typename Rule>
class Table {
 public:
  Table(const CostModel& model, Rule rule, const Budget& budget)
      : cores_(model.size()), rule_(rule), cells_(static_cast<std::size_t>(cores_) << cores_) {
    const Set all = (Set{1} << cores_) - 1;
    // A proper part of a set is a smaller number, so it is ready before it is needed.
    for (Set set = 0; set <= all; ++set) {
      for (int core = 0; core < cores_; ++core) {
        if ((set >> core & 1) == 0) cell(core, set) = solve(core, set);
      }
      out_of_time_ = budget.out_of_time && set % kPlanClockEvaluations == 0 && budget.out_of_time();
      if (out_of_time_) return;
    }
  }

  bool out_of_time() const { return out_of_time_; }

  double cost(int root) const { return cells_[index(root, everybody_but(root))].cost; }

  Tree tree(int root) const {
    Tree tree(cores_, root);
    hang(root, everybody_but(root), tree);
    return tree;
  }

 private:
  struct Cell {
    double cost = 0;
    Set part = 0;  // of the chosen child
    int child = -1;
  };

  Set everybody_but(int core) const { return ((Set{1} << cores_) - 1) & ~(Set{1} << core); }
  std::size_t index(int core, Set set) const { return (static_cast<std::size_t>(core) << cores_) + set; }
  Cell& cell(int core, Set set) { return cells_[index(core, set)]; }

  Cell solve(int core, Set set) {
    if (set == 0) return {};
    Cell best{kNever, 0, -1};
    for (Set part = set; part != 0; part = (part - 1) & set) {
      const double rest = cells_[index(core, set & ~part)].cost;
      if (rest >= best.cost) continue;
      for (Set left = part; left != 0; left &= left - 1) {
        const int child = __builtin_ctz(left);
        const double cost = rule_(core, child, cells_[index(child, part & ~(Set{1} << child))].cost, rest);
        if (cost < best.cost) best = {cost, part, child};
      }
    }
    return best;
  }

  void hang(int core, Set set, Tree& tree) const {
    while (set != 0) {
      const Cell& cell = cells_[index(core, set)];
      tree.children[core].push_back(cell.child);
      hang(cell.child, cell.part & ~(Set{1} << cell.child), tree);
      set &= ~cell.part;
    }
  }

  const int cores_;
  const Rule rule_;
  std::vector<Cell> cells_;
  bool out_of_time_ = false;
};

absl::Status out_of_time() {
  return absl::DeadlineExceededError("the exact planner ran out of time; give it a larger budget, or fewer cores");
}

std::vector<int> possible_roots(const CostModel& model, const PlanRequest& request) {
  if (request.root) return {*request.root};
  std::vector<int> roots;
  for (int core = 0; core < model.size(); ++core) roots.push_back(core);
  return roots;
}

template <typename Rule>
absl::StatusOr<Tree> best_by(const CostModel& model, const PlanRequest& request, Rule rule) {
  const Table<Rule> table(model, rule, request.budget);
  if (table.out_of_time()) return out_of_time();
  int best = -1;
  for (const int root : possible_roots(model, request)) {
    if (best < 0 || table.cost(root) < table.cost(best)) best = root;
  }
  return table.tree(best);
}

absl::StatusOr<Tree> exact_broadcast(const CostModel& model, const PlanRequest& request) {
  return best_by(model, request, [&model](int parent, int child, double below, double rest) {
    return model.send.at(parent, child) + std::max(model.receive.at(parent, child) + below, rest);
  });
}

absl::StatusOr<Tree> exact_reduction(const CostModel& model, const PlanRequest& request) {
  return best_by(model, request, [&model](int parent, int child, double below, double rest) {
    const Arrival arrival = arrival_of(model, child, parent, below);
    return std::max(rest, arrival.ready) + arrival.occupancy;
  });
}

absl::StatusOr<Tree> exact_throughput(const CostModel& model, const PlanRequest& request) {
  Tree best = *plan_mst(model, request);
  for (double bound = predict(model, best).bottleneck;;) {
    const auto rule = [&model, bound](int parent, int child, double below, double rest) {
      if (model.receive.at(parent, child) + below >= bound) return kNever;
      return model.send.at(parent, child) + rest;
    };
    const Table table(model, rule, request.budget);
    if (table.out_of_time()) return out_of_time();
    int better = -1;
    for (const int root : possible_roots(model, request)) {
      if (table.cost(root) < bound) better = root;
    }
    if (better < 0) return best;
    best = table.tree(better);
    const double reached = predict(model, best).bottleneck;
    if (reached >= bound) return best;  // a difference of rounding only
    bound = reached;
  }
}

absl::StatusOr<Tree> exact_barrier(const CostModel& model, const PlanRequest& request) {
  Tree best;
  double least = kNever;
  const bool done = for_all_trees(model.size(), possible_roots(model, request), [&](Tree& tree) {
    order_children(model, tree);
    const double cost = predict(model, tree).barrier;
    if (cost < least) {
      least = cost;
      best = tree;
    }
    return !(request.budget.out_of_time && request.budget.out_of_time());
  });
  if (!done) return out_of_time();
  return best;
}

}  // namespace

absl::StatusOr<Tree> plan_exact(const CostModel& model, const PlanRequest& request) {
  const int most = request.objective == Objective::kBarrier ? kExactBarrierCoresMax : kExactCoresMax;
  if (model.size() > most) {
    return absl::OutOfRangeError(absl::StrCat("the exact planner takes at most ", most,
                                              " cores for this objective, not ", model.size(),
                                              "; choose a --group, or another planner"));
  }
  absl::StatusOr<Tree> tree;
  switch (request.objective) {
    case Objective::kBroadcast:
      tree = exact_broadcast(model, request);
      break;
    case Objective::kReduction:
      tree = exact_reduction(model, request);
      break;
    case Objective::kBarrier:
      tree = exact_barrier(model, request);
      break;
    case Objective::kThroughput:
      tree = exact_throughput(model, request);
      break;
  }
  if (tree.ok()) order_children(model, *tree);
  return tree;
}

}  // namespace ingot::core_planning_tree_planner
