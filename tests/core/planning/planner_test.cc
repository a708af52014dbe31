// Planners: each makes a valid tree of its shape; Ingot's is never worse than the others and close to the optimum; the
// search's incremental predictions equal full ones.
#include "core/planning/tree_planner/planner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "core/planning/tree_planner/all_trees.h"
#include "core/planning/tree_planner/search_tree.h"
#include "tests/core/planning/random_machine.h"

namespace ingot {
namespace {

constexpr std::int64_t kEvaluations = 20'000;

// INGOT_LONG_TESTS=1: more machines and longer searches.
int long_factor() { return std::getenv("INGOT_LONG_TESTS") != nullptr ? 20 : 1; }

double cost(const CostModel& model, const Tree& tree, Objective objective) {
  return cost_of(predict(model, tree), objective);
}

PlanRequest request(Objective objective, std::uint64_t seed = 1) {
  PlanRequest result{.objective = objective, .seed = seed};
  result.budget.evaluations = kEvaluations * long_factor();
  return result;
}

TEST_CASE("the fixed shapes have the expected children") {
  const CostModel model = random_machine(1, 10);
  const PlanRequest any = request(Objective::kBroadcast);
  CHECK(plan_binary(model, any)->children ==
        std::vector<std::vector<int>>{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9}, {}, {}, {}, {}, {}});
  CHECK(plan_sequential(model, any)->children[0] == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(plan_cluster(model, any)->children ==
        std::vector<std::vector<int>>{{4, 8, 1, 2, 3}, {}, {}, {}, {5, 6, 7}, {}, {}, {}, {9}, {}});
  PlanRequest rooted = any;
  rooted.root = 5;
  CHECK(plan_cluster(model, rooted)->children[5] == std::vector<int>{0, 8, 4, 6, 7});
  CHECK(plan_binary(model, rooted)->children[5] == std::vector<int>{0, 1});
}

TEST_CASE("a Fibonacci tree of full size has Fibonacci trees below it") {
  const auto size_below = [](const Tree& tree, int core) {
    const auto size = [&](auto self, int at) -> int {
      int sum = 1;
      for (const int child : tree.children[at]) sum += self(self, child);
      return sum;
    };
    return size(size, core);
  };
  const CostModel model = random_machine(1, 20);  // F: 1, 2, 4, 7, 12, 20
  const Tree tree = *plan_fibonacci(model, request(Objective::kBroadcast));
  REQUIRE(tree.children[0].size() == 2);
  CHECK(size_below(tree, tree.children[0][0]) == 12);
  CHECK(size_below(tree, tree.children[0][1]) == 7);
}

TEST_CASE("the spanning trees have the least and the most total cost that Prim's algorithm finds") {
  const CostModel model = random_machine(3, 12);
  const auto total = [&](const Tree& tree) {
    double sum = 0;
    for (int core = 0; core < tree.size(); ++core) {
      for (const int child : tree.children[core]) sum += model.edge(core, child);
    }
    return sum;
  };
  const double least = total(*plan_mst(model, request(Objective::kBroadcast)));
  const double most = total(*plan_bad(model, request(Objective::kBroadcast)));
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const double random = total(random_tree(seed, 12));
    CHECK(random > least);
    CHECK(random < most);
  }
}

TEST_CASE("every planner makes a right tree, under the root it was given, for any group") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const int cores = seed <= 3 ? static_cast<int>(seed) : 3 + static_cast<int>(seed * 5 % 30);
    const CostModel model = random_machine(seed, cores);
    for (const Planner& planner : planners()) {
      for (const Objective objective : kObjectives) {
        CAPTURE(seed, cores, planner.name, std::string(name_of(objective)));
        PlanRequest wanted = request(objective, seed);
        wanted.budget.evaluations = 500;
        if (seed % 2 == 0) wanted.root = static_cast<int>(seed) % cores;
        const bool possible =
            std::string(planner.name) != "exact" || cores <= (objective == Objective::kBarrier ? 6 : 8);
        if (!possible) continue;
        const auto tree = planner.plan(model, wanted);
        REQUIRE(tree.ok());
        CHECK(validate(*tree).ok());
        CHECK(tree->size() == cores);
        if (wanted.root) CHECK(tree->root == *wanted.root);
      }
    }
  }
}

TEST_CASE("exact refuses what it cannot finish") {
  CHECK(plan_exact(random_machine(1, kExactCoresMax + 1), request(Objective::kBroadcast)).status().code() ==
        absl::StatusCode::kOutOfRange);
  CHECK(plan_exact(random_machine(1, kExactBarrierCoresMax + 1), request(Objective::kBarrier)).status().code() ==
        absl::StatusCode::kOutOfRange);
  PlanRequest hurried = request(Objective::kBroadcast);
  hurried.budget.out_of_time = [] { return true; };
  CHECK(plan_exact(random_machine(1, 8), hurried).status().code() == absl::StatusCode::kDeadlineExceeded);
}

TEST_CASE("exact finds what trying all trees finds") {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(6 * long_factor()); ++seed) {
    const int cores = 2 + static_cast<int>(seed % 4);
    const CostModel model = random_machine(seed, cores);
    for (const Objective objective : kObjectives) {
      for (const bool rooted : {false, true}) {
        CAPTURE(seed, cores, std::string(name_of(objective)), rooted);
        PlanRequest wanted = request(objective);
        std::vector<int> roots{cores - 1};
        if (rooted) {
          wanted.root = cores - 1;
        } else {
          for (int core = 0; core < cores - 1; ++core) roots.push_back(core);
        }
        double least = 1e18;
        for_all_trees(cores, roots, [&](Tree& tree) {
          order_children(model, tree);
          least = std::min(least, cost(model, tree, objective));
          return true;
        });
        CHECK(cost(model, *plan_exact(model, wanted), objective) == Approx(least));
      }
    }
  }
}

TEST_CASE("ingot's planner is within two percent of exact") {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(6 * long_factor()); ++seed) {
    for (const Objective objective : kObjectives) {
      PlanRequest wanted = request(objective);
      wanted.budget.evaluations = 100'000;
      const int most = objective == Objective::kBarrier ? 6 : 9;
      const int cores = 3 + static_cast<int>(seed) % (most - 2);
      CAPTURE(seed, cores, std::string(name_of(objective)));
      const CostModel model = random_machine(1000 + seed, cores);
      const double exact = cost(model, *plan_exact(model, request(objective)), objective);
      const double ours = cost(model, *plan_ingot(model, wanted), objective);
      CHECK(ours >= exact - 1e-6);
      CHECK(ours <= 1.02 * exact);
    }
  }
}

TEST_CASE("best is never worse than any other, whatever the budget") {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(6 * long_factor()); ++seed) {
    const CostModel model = random_machine(2000 + seed, 13 + static_cast<int>(seed % 20));
    for (const Objective objective : kObjectives) {
      PlanRequest wanted = request(objective, seed);
      wanted.budget.evaluations = seed % 2 == 0 ? 1 : 3000;
      if (seed % 3 == 0) wanted.root = 5;
      const double best = cost(model, *plan_best(model, wanted), objective);
      for (const Planner& planner : planners()) {
        const auto tree = planner.plan(model, wanted);
        if (!tree.ok()) continue;
        CAPTURE(seed, planner.name, std::string(name_of(objective)));
        CHECK(best <= cost(model, *tree, objective) + 1e-9);
      }
    }
  }
}

TEST_CASE("a plan for throughput is no chain if a faster tree has the same bottleneck") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const CostModel model = random_machine(3000 + seed, 24);
    const Prediction planned = predict(model, *plan_ingot(model, request(Objective::kThroughput)));
    Tree chain(model.size(), 0);
    for (int core = 1; core < model.size(); ++core) chain.children[core - 1].push_back(core);
    CHECK(planned.bottleneck <= predict(model, chain).bottleneck);
    CHECK(planned.broadcast < 0.7 * predict(model, chain).broadcast);
  }
}

TEST_CASE("a search that is limited by a bottleneck knows which trees are allowed") {
  const CostModel model = random_machine(5, 12);
  const Tree begin = random_tree(5, 12);
  const double limit = predict(model, begin).bottleneck;
  SearchTree tree(model, Objective::kBroadcast, begin, limit * (1 + 1e-12));
  CHECK(tree.allowed());
  Prng random(5);
  int allowed = 0, refused = 0;
  for (int step = 0; step < 400; ++step) {
    tree.swap(static_cast<int>(random.below(12)), tree.critical_slot(random));
    REQUIRE(tree.cost() == Approx(cost(model, tree.tree(), Objective::kBroadcast)));
    const double bottleneck = predict(model, tree.tree()).bottleneck;
    if (std::abs(bottleneck - limit) < 1e-6) continue;
    REQUIRE(tree.allowed() == (bottleneck < limit));
    ++(tree.allowed() ? allowed : refused);
  }
  CHECK(allowed > 0);
  CHECK(refused > 0);
}

TEST_CASE("the same seed gives the same tree, and time running out still gives a right one") {
  const CostModel model = random_machine(7, 24);
  for (const Objective objective : kObjectives) {
    CHECK(*plan_ingot(model, request(objective, 5)) == *plan_ingot(model, request(objective, 5)));
  }
  PlanRequest hurried = request(Objective::kBroadcast);
  hurried.budget.out_of_time = [] { return true; };
  const Tree tree = *plan_ingot(model, hurried);
  CHECK(validate(tree).ok());
  CHECK(cost(model, tree, Objective::kBroadcast) <= cost(model, *plan_smelt(model, hurried), Objective::kBroadcast));
}

TEST_CASE("the search's figures after any changes are those of a prediction from scratch") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const Objective objective : kObjectives) {
      CAPTURE(seed, std::string(name_of(objective)));
      const int cores = 2 + static_cast<int>(seed * 3);
      const CostModel model = random_machine(seed, cores);
      SearchTree tree(model, objective, random_tree(seed, cores));
      Tree kept = tree.tree();
      Prng random(seed);
      for (int step = 0; step < 300; ++step) {
        const int slot =
            random.chance(0.5) ? tree.critical_slot(random) : 1 + static_cast<int>(random.below(cores - 1));
        const int other = static_cast<int>(random.below(static_cast<std::uint64_t>(cores)));
        const bool hung = random.chance(0.5) && tree.move(slot, other);
        if (!hung) tree.swap(slot, other);
        REQUIRE(validate(tree.tree()).ok());
        REQUIRE(tree.cost() == Approx(cost(model, tree.tree(), objective)));
        if (random.chance(0.4)) {
          tree.undo();
          REQUIRE(tree.tree() == kept);
          REQUIRE(tree.cost() == Approx(cost(model, kept, objective)));
        } else if (random.chance(0.5)) {
          tree.keep();
          kept = tree.tree();
        }
      }
    }
  }
}

}  // namespace
}  // namespace ingot
