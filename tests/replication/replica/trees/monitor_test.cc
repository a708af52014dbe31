// When trees change, with injected progress and costs: bypass, return, leader, drift; and no oscillation.
#include <catch2/catch.hpp>

#include "core/prng.h"
#include "replication/replica/trees/limits.h"
#include "replication/replica/trees/monitor.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using State = ReplicaSample::State;

// A group that consists of samples only; every tree that the monitor requests is agreed on at once.
class World {
 public:
  explicit World(int replicas) : monitor(replicas), samples(static_cast<std::size_t>(replicas)) {
    plan.replicas = replicas;
    plan.voters = 5;
    plan.shape = "two-level";
    trees = plan_trees(plan, {});
  }

  // All replicas but those in `still` advance by ten slots; then the leader checks.
  bool check(ReplicaSet still = {}, int slots = 10) {
    for (int i = 0; i < plan.replicas; ++i) {
      if (!still.contains(i)) samples[i].applied = top + static_cast<std::uint64_t>(slots);
    }
    top += static_cast<std::uint64_t>(slots);
    const auto wish = monitor.check(trees, 1, leader, samples);
    if (!wish) return false;
    const std::uint32_t version = trees.version + 1;
    trees = plan_trees(plan, wish->conditions);
    trees.version = version;
    trees.reason = wish->reason;
    return true;
  }

  // Checks until the trees change; returns the number of checks.
  int check_until_change(ReplicaSet still, int checks_max, int slots = 10) {
    for (int checks = 1; checks <= checks_max; ++checks) {
      if (check(still, slots)) return checks;
    }
    return -1;
  }

  int an_inner() const {
    for (int i = 0; i < plan.replicas; ++i) {
      if (trees.of(1)->inner(i)) return i;
    }
    return -1;
  }
  ReplicaSet subtree(int replica) const { return trees.of(1)->subtree[replica]; }
  bool bypassed(int replica) const { return trees.bypassed.contains(replica); }

  TreePlan plan;
  TreeSet trees;
  TreeMonitor monitor;
  std::vector<ReplicaSample> samples;
  std::uint64_t top = 0;
  int leader = 0;
};

}  // namespace

TEST_CASE("without a fault the trees do not change") {
  World world(24);
  REQUIRE(world.check_until_change({}, 5000) == -1);
  REQUIRE_FALSE(world.monitor.wants_check());
}

TEST_CASE("a dead inner endpoint is bypassed at once, a stopped one soon, a slow one later") {
  World world(24);
  world.check();
  const int victim = world.an_inner();
  SECTION("dead by its state") {
    world.samples[victim].state = State::kDead;
    REQUIRE(world.check_until_change(world.subtree(victim), 10) == 1);
  }
  SECTION("dead by report") {
    world.monitor.died(victim);
    REQUIRE(world.check_until_change(world.subtree(victim), 10) == 1);
  }
  SECTION("stopped") {
    world.samples[victim].state = State::kStopped;
    REQUIRE(world.check_until_change(world.subtree(victim), 10) == kStoppedChecks);
  }
  SECTION("slow: it and those below stand still, and it is the one to blame") {
    REQUIRE(world.check_until_change(world.subtree(victim), 100) == kSlowChecks + 1);  // added to the lag from before
  }
  SECTION("stopped, and nothing more is decided") {
    world.samples[victim].state = State::kStopped;
    REQUIRE_FALSE(world.check(world.subtree(victim), 0));
    REQUIRE(world.monitor.wants_check());
    REQUIRE(world.check_until_change(world.subtree(victim), 10, 0) == 1);
  }
  REQUIRE(world.trees.reason == TreeReason::kBypass);
  REQUIRE(world.trees.bypassed == ReplicaSet::of(victim));
  REQUIRE_FALSE(world.trees.inner().contains(victim));
  REQUIRE(world.trees.of(1)->tree.children[1].back() == victim);  // a leaf of the root, the last one
}

TEST_CASE("a slow leaf changes no tree") {
  World world(24);
  int leaf = 23;
  while (world.trees.inner().contains(leaf)) --leaf;
  REQUIRE(world.check_until_change(ReplicaSet::of(leaf), 500) == -1);
}

TEST_CASE("an endpoint that is slow for a moment is not bypassed") {
  World world(24);
  const int victim = world.an_inner();
  for (int i = 0; i < 200; ++i) {
    const ReplicaSet still = i % kSlowChecks != kSlowChecks - 1 ? world.subtree(victim) : ReplicaSet();
    REQUIRE_FALSE(world.check(still));
  }
}

TEST_CASE("a recovered endpoint returns, each time later, until a long time without faults resets the delay") {
  World world(24);
  const int victim = world.an_inner();
  int expected = kReturnChecks;
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    // The victim is inner again only if the plan makes it so; two-level plans take the first of equals.
    REQUIRE(world.check_until_change(world.subtree(victim), 100) > 0);
    REQUIRE(world.bypassed(victim));
    REQUIRE(world.check_until_change({}, 2 * kReturnChecksMax) == expected);
    REQUIRE(world.trees.reason == TreeReason::kReturn);
    REQUIRE_FALSE(world.bypassed(victim));
    expected = std::min(2 * expected, kReturnChecksMax);
  }
  for (int i = 0; i < 10 * kForgiveChecks; ++i) REQUIRE_FALSE(world.check());
  REQUIRE(world.check_until_change(world.subtree(victim), 100) > 0);
  REQUIRE(world.check_until_change({}, 2 * kReturnChecksMax) == kReturnChecks);
}

TEST_CASE("an endpoint that is always slow changes the trees ever more seldom") {
  World world(24);
  const int victim = world.an_inner();
  int changes = 0;
  const int checks = 40'000;  // more than ten minutes
  for (int i = 0; i < checks; ++i) {
    // Slow while other replicas depend on it, well when not: the worst case for oscillation.
    changes += world.check(world.bypassed(victim) ? ReplicaSet() : world.subtree(victim)) ? 1 : 0;
  }
  REQUIRE(changes >= 4);
  REQUIRE(changes <= 2 * (7 + checks / kReturnChecksMax));
}

TEST_CASE("a new leader is its root's first child, and a leaf") {
  World world(24);
  world.leader = 3;
  REQUIRE(world.check_until_change({}, 10) == 1);
  REQUIRE(world.trees.reason == TreeReason::kLeader);
  for (int root = 0; root < 5; ++root) {
    const RootedTree& tree = *world.trees.of(root);
    if (root == 3) continue;
    REQUIRE(tree.tree.children[root].front() == 3);
    REQUIRE(tree.tree.children[3].empty());
  }
  REQUIRE(world.check_until_change({}, 100) == -1);
}

TEST_CASE("costs that drift change the trees once, and back once when the neighbour is gone") {
  World world(24);
  const int victim = world.an_inner();
  double noise = 1.0;
  Prng prng(testing::drawn_seed());
  const auto check_with_costs = [&] {
    for (int i = 0; i < 24; ++i) {
      world.samples[i].costs.handled_messages += 100;
      const double ns = 100 * 500 * (0.7 + 0.6 * prng.unit()) * (i == victim ? noise : 1.0);
      world.samples[i].costs.busy_ns += static_cast<std::uint64_t>(ns);
    }
    return world.check();
  };
  const auto until_change = [&](int checks_max) {
    for (int checks = 1; checks <= checks_max; ++checks) {
      if (check_with_costs()) return checks;
    }
    return -1;
  };
  REQUIRE(until_change(2000) == -1);  // noise of 30 % is no change
  noise = 1.8;
  REQUIRE(until_change(2000) == -1);  // within the hysteresis
  noise = 10;
  const int checks = until_change(2000);
  REQUIRE(checks > (kDriftWindows - 1) * kDriftWindowChecks);
  REQUIRE(checks <= (kDriftWindows + 1) * kDriftWindowChecks);
  REQUIRE(world.trees.reason == TreeReason::kCosts);
  REQUIRE_FALSE(world.trees.inner().contains(victim));
  REQUIRE(world.trees.slowdown[victim] >= 8);
  REQUIRE(until_change(2000) == -1);
  noise = 1;
  REQUIRE(until_change(2000) > (kDriftWindows - 1) * kDriftWindowChecks);
  REQUIRE(world.trees.slowdown[victim] == 1);
  REQUIRE(until_change(2000) == -1);
}

TEST_CASE("a burst of noise that ends before it is believed changes nothing") {
  CostDrift drift(8);
  std::vector<CostTotals> totals(8);
  const std::vector<std::uint8_t> planned(8, 1);
  for (int window = 0; window < 60; ++window) {
    for (int i = 0; i < 8; ++i) {
      totals[i].handled_messages += 10 * kDriftMessagesMin;
      totals[i].busy_ns += 1'000'000 * (i == 2 && window % kDriftWindows != 0 ? 20 : 1);
    }
    drift.window(totals, planned);
    for (int i = 0; i < 8; ++i) REQUIRE_FALSE(drift.dearer(i));
  }
}

TEST_CASE("the costs of an endpoint that handles nothing, or has just restarted, do not count") {
  CostDrift drift(4);
  std::vector<CostTotals> totals(4);
  const std::vector<std::uint8_t> planned(4, 1);
  for (int window = 0; window < 10; ++window) {
    for (int i = 0; i < 3; ++i) {
      totals[i].handled_messages += kDriftMessagesMin;
      totals[i].busy_ns += 1'000'000;
    }
    totals[3].busy_ns += 1'000'000'000;
    if (window == 5) totals[2] = {};
    drift.window(totals, planned);
    REQUIRE(drift.slowdown() == planned);
  }
}

}  // namespace ingot
