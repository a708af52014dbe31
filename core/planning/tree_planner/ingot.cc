// Ingot's planner: simulated annealing from the best of many simple trees.
//
// It starts with every baseline, with adaptive trees that may enter a NUMA node more than once, and with a few greedy
// shapes, under several roots. From the best of them it makes small changes: it moves a subtree or exchanges two cores,
// mostly on the path that determines the cost, since only changes there can lower it. It keeps the best tree it has
// seen, so its result is never worse than any start.
//
// Many trees have the same bottleneck, a chain of all cores among them. So for throughput half of the search looks for
// the fastest broadcast among trees with the best bottleneck.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/planning/tree_planner/adaptive.h"
#include "core/planning/tree_planner/search_tree.h"
#include "core/prng.h"

namespace ingot::inline core_planning_tree_planner {
namespace {

constexpr int kStartsKept = 4;         // trees that the search starts from
constexpr int kEntriesMax = 4;         // of adaptive trees into one NUMA node
constexpr int kAllRootsCoresMax = 64;  // larger machines try some roots only
constexpr int kSomeRoots = 3;
// Heat at the start of each round: an increase by this share of the cost is accepted with probability 1/e. In small
// trees each change is large, so some rounds start hot; in large trees that would only destroy the start.
constexpr double kRoundHeatsFewCores[] = {0.05, 0.5, 0.05, 0.2};
constexpr double kRoundHeatsManyCores[] = {0.03, 0.01};
constexpr double kEndHeat = 0.0005;
constexpr double kMoreChance = 0.4;  // chance of another change with the first, on few cores
constexpr double kRounding = 1e-12;  // the same sum in another order

class Search {
 public:
  Search(const CostModel& model, const PlanRequest& request)
      : model_(model),
        request_(request),
        random_(request.seed),
        left_(request.budget.evaluations > 0 ? request.budget.evaluations : default_evaluations(model.size())) {}

  Tree run() {
    begin_with_baselines();
    begin_with_grown();
    std::stable_sort(starts_.begin(), starts_.end(), [](const Start& a, const Start& b) { return a.cost < b.cost; });
    Start best = starts_.front();  // unchanged, so that its children's order is kept
    if (model_.size() <= 2) return best.tree;
    const bool polish = request_.objective == Objective::kThroughput;
    const std::int64_t kept_back = polish ? left_ / 2 : 0;
    const std::size_t starts = std::min<std::size_t>(kStartsKept, starts_.size());
    const bool few = model_.size() <= kPlanFewCores;
    const auto heats =
        few ? std::span<const double>(kRoundHeatsFewCores) : std::span<const double>(kRoundHeatsManyCores);
    const std::size_t rounds = heats.size();
    for (std::size_t i = 0; i < rounds; ++i) {
      const std::int64_t share = (left_ - kept_back) / static_cast<std::int64_t>(rounds - i);
      Start found = anneal(starts_[i % starts].tree, {request_.objective, SearchTree::kNoLimit, heats[i], share});
      if (found.cost < best.cost) best = std::move(found);
    }
    if (polish) {
      best = anneal(best.tree, {Objective::kBroadcast, best.cost * (1 + kRounding), heats[0], left_});
    }
    return best.tree;
  }

 private:
  struct Start {
    Tree tree;
    double cost;
  };

  struct Round {
    Objective objective;
    double bottleneck_max;
    double heat;
    std::int64_t evaluations;
  };

  bool spent() {
    if (left_ <= 0) return true;
    if (request_.budget.out_of_time && left_ % kPlanClockEvaluations == 0 && request_.budget.out_of_time()) left_ = 0;
    return left_ <= 0;
  }

  void begin_with(Tree tree) {
    --left_;
    order_children(model_, tree);
    const double cost = cost_of(predict(model_, tree), request_.objective);
    starts_.push_back({std::move(tree), cost});
  }

  void begin_with_baselines() {
    for (const PlanFunction plan :
         {plan_smelt, plan_binary, plan_fibonacci, plan_mst, plan_cluster, plan_sequential, plan_bad}) {
      absl::StatusOr<Tree> tree = plan(model_, request_);
      INGOT_CHECK(tree.ok(), "these planners take every model");
      const double as_planned = cost_of(predict(model_, *tree), request_.objective);
      starts_.push_back({*tree, as_planned});
      begin_with(*std::move(tree));
    }
  }

  std::vector<int> roots() const {
    if (request_.root) return {*request_.root};
    const int step = model_.size() <= kAllRootsCoresMax ? 1 : (model_.size() + kSomeRoots - 1) / kSomeRoots;
    std::vector<int> result;
    for (int root = 0; root < model_.size(); root += step) result.push_back(root);
    return result;
  }

  void begin_with_grown() {
    for (const int root : roots()) {
      if (request_.budget.out_of_time && request_.budget.out_of_time()) return;
      begin_with(grow_by_earliest_arrival(model_, root));
      if (request_.objective == Objective::kThroughput) begin_with(grow_chain(model_, root));
      for (int entries = 1; entries <= kEntriesMax; ++entries) begin_with(grow_adaptively(model_, root, entries));
    }
  }

  // The best allowed tree on the way, by this round's objective.
  // REQUIRES: `start` is allowed.
  Start anneal(const Tree& start, const Round& round) {
    SearchTree tree(model_, round.objective, start, round.bottleneck_max);
    double cost = tree.cost(), least = cost;
    SearchTree::Shape best;
    tree.copy_shape(best);
    const std::int64_t end = left_ - round.evaluations;
    double heat = cost * round.heat;
    while (left_ > end && !spent()) {
      if (left_ % kPlanClockEvaluations == 0) {
        const double done = 1 - static_cast<double>(left_ - end) / static_cast<double>(round.evaluations);
        heat = cost * round.heat * std::pow(kEndHeat / round.heat, done);
      }
      --left_;
      if (!change(tree)) continue;
      const double changed = tree.cost();
      if (!tree.allowed() || (changed > cost && !random_.chance(std::exp((cost - changed) / heat)))) {
        tree.undo();
        continue;
      }
      tree.keep();
      cost = changed;
      if (cost >= least) continue;
      least = cost;
      tree.copy_shape(best);
    }
    return {tree.tree_of(best), least};
  }

  int any_slot() { return static_cast<int>(random_.below(static_cast<std::uint64_t>(model_.size()))); }
  int any_slot_but_root() { return 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(model_.size() - 1))); }

  // One change, or several at once, as in putting a core between two others. False: nothing changed.
  bool change(SearchTree& tree) {
    bool changed = change_once(tree);
    while (model_.size() <= kPlanFewCores && random_.chance(kMoreChance)) changed |= change_once(tree);
    return changed;
  }

  bool change_once(SearchTree& tree) {
    const int slot = random_.chance(0.7) ? tree.critical_slot(random_) : any_slot_but_root();
    if (random_.chance(0.5)) return tree.move(slot, any_slot());
    const int other = request_.root ? any_slot_but_root() : any_slot();
    if (other == slot) return false;
    tree.swap(slot, other);
    return true;
  }

  const CostModel& model_;
  const PlanRequest& request_;
  Prng random_;
  std::int64_t left_;  // evaluations
  std::vector<Start> starts_;
};

}  // namespace

absl::StatusOr<Tree> plan_ingot(const CostModel& model, const PlanRequest& request) {
  return Search(model, request).run();
}

}  // namespace ingot::core_planning_tree_planner
