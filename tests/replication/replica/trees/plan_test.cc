// Agreed trees as values: every replica is reached, no replica depends on a bypassed one, each tree has one encoding,
// and changes are applied in one order.
#include <catch2/catch.hpp>

#include "core/planning/cost_model_derive.h"
#include "core/planning/topology.h"
#include "core/prng.h"
#include "replication/replica/trees/limits.h"
#include "replication/replica/trees/plan.h"
#include "replication/replica/trees/state_machine.h"
#include "replication/replica/trees/table.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"

namespace ingot {
namespace {

TreePlan plan_of(int replicas, const std::string& shape, int cores) {
  TreePlan plan;
  plan.replicas = replicas;
  plan.voters = std::min(replicas, 5);
  plan.shape = shape;
  if (cores > 1) {
    const auto topology = synthetic_machine("package:2 l3:2 core:" + std::to_string((cores + 3) / 4) + " pu:1");
    REQUIRE(topology.ok());
    plan.machine = derive_machine(*topology, "test", Threads::kOnePerCore);
    for (int i = 0; i < replicas; ++i) plan.core.push_back(i % std::min(cores, plan.machine.size()));
  }
  return plan;
}

int busiest(const TreeSet& set, int root) {
  int most = 0;
  for (const auto& children : set.of(root)->tree.children) most = std::max(most, 1 + static_cast<int>(children.size()));
  return most;
}

}  // namespace

TEST_CASE("every shape reaches all, the leader first, bypassed ones last, and no endpoint depends on these") {
  const std::uint64_t seed = 20261120;
  Prng prng(seed);
  for (const std::string_view shape : tree_shapes()) {
    for (const int cores : {1, 2, 48}) {
      const int replicas = 3 + static_cast<int>(prng.below(46));
      CAPTURE(seed, shape, cores, replicas);
      const TreePlan plan = plan_of(replicas, std::string(shape), cores);
      TreeConditions conditions;
      conditions.leader = static_cast<int>(prng.below(static_cast<std::uint64_t>(plan.voters)));
      conditions.evaluations = kReplanEvaluations;
      for (int i = 0; i < 3; ++i) conditions.bypassed.insert(static_cast<int>(prng.below(replicas)));
      conditions.bypassed.erase(conditions.leader);
      const TreeSet set = plan_trees(plan, conditions);
      for (int root = 0; root < plan.voters; ++root) {
        CAPTURE(root);
        const RootedTree& tree = *set.of(root);
        REQUIRE(validate(tree.tree).ok());
        if (root != conditions.leader) {
          REQUIRE(tree.tree.children[root].front() == conditions.leader);
          REQUIRE(tree.tree.children[conditions.leader].empty());
        }
        for (int i = 0; i < replicas; ++i) {
          if (i == root || !conditions.bypassed.contains(i)) continue;
          REQUIRE(tree.parent[i] == root);
          REQUIRE(tree.tree.children[i].empty());
        }
        REQUIRE(tree.subtree[root] == ReplicaSet::first(replicas));
      }
      const auto read_back = decode_tree_set(encode(set), replicas);
      REQUIRE(read_back);
      REQUIRE(encode(*read_back) == encode(set));
    }
  }
}

TEST_CASE("on few cores no endpoint handles more than about twice the square root, and one line crosses to each core") {
  for (const int replicas : {7, 13, 24, 48}) {
    const TreeSet one_core = plan_trees(plan_of(replicas, "best", 1), {});
    REQUIRE(busiest(one_core, 1) <= 2 + static_cast<int>(std::ceil(std::sqrt(replicas))));
    const TreePlan plan = plan_of(replicas, "best", 2);
    const TreeSet two_cores = plan_trees(plan, {});
    int crossings = 0;
    for (int i = 0; i < replicas; ++i) {
      const int parent = two_cores.of(1)->parent[i];
      if (parent >= 0 && i != 0 && plan.core[i] != plan.core[parent]) ++crossings;
    }
    REQUIRE(crossings == 1);  // not counting the leader, which is the first child
  }
}

TEST_CASE("small groups and stars need no relays") {
  REQUIRE(is_plain_star(plan_of(3, "best", 1)));
  REQUIRE(is_plain_star(plan_of(kTreeReplicasMin - 1, "best", 48)));
  REQUIRE(is_plain_star(plan_of(48, "star", 2)));
  REQUIRE(is_plain_star(plan_of(2, "binary", 1)));
  REQUIRE_FALSE(is_plain_star(plan_of(kTreeReplicasMin, "best", 1)));
  REQUIRE_FALSE(is_plain_star(plan_of(3, "binary", 1)));
}

TEST_CASE("a slow endpoint is no inner one if others can be") {
  for (const int cores : {1, 48}) {
    const TreePlan plan = plan_of(24, "best", cores);
    TreeConditions conditions;
    conditions.evaluations = 5000;
    const TreeSet before = plan_trees(plan, conditions);
    int victim = 0;
    while (!before.of(1)->inner(victim)) ++victim;
    conditions.slowdown.assign(24, 1);
    conditions.slowdown[victim] = kSlowdownMax;
    REQUIRE_FALSE(plan_trees(plan, conditions).of(1)->inner(victim));
  }
}

TEST_CASE("damaged trees are refused, and leave the table as it was") {
  const std::uint64_t seed = 20261120;
  CAPTURE(seed);
  Prng prng(seed);
  const TreePlan plan = plan_of(9, "best", 1);
  TreeTable table(plan_trees(plan, {}));
  TreeSet next = plan_trees(plan, {.leader = 2});
  next.version = 1;
  const std::string change = encode(next);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = change;
    for (std::uint64_t n = 1 + prng.below(3); n > 0; --n)
      damaged[prng.below(damaged.size())] ^= static_cast<char>(1 + prng.below(255));
    if (prng.chance(0.3)) damaged.resize(prng.below(damaged.size() + 1));
    const auto set = decode_tree_set(damaged, 9);
    if (!set) {
      ++refused;
      continue;
    }
    REQUIRE(encode(*set) == damaged);
    for (const auto& tree : set->trees) REQUIRE((!tree || validate(tree->tree).ok()));
  }
  REQUIRE(refused > 10'000);
  REQUIRE_FALSE(table.apply(change.substr(1)));
  REQUIRE_FALSE(table.apply(change + "x"));
  REQUIRE(table.version() == 0);
  REQUIRE(table.apply(change));
}

TEST_CASE("the first of two changes to one version wins; old trees are kept for a while") {
  const TreePlan plan = plan_of(9, "best", 1);
  TreeTable table(plan_trees(plan, {}));
  const auto change = [&](std::uint32_t version, int leader) {
    TreeSet set = plan_trees(plan, {.leader = leader});
    set.version = version;
    return encode(set);
  };
  REQUIRE(table.apply(change(1, 1)));
  REQUIRE_FALSE(table.apply(change(1, 2)));
  REQUIRE_FALSE(table.apply(change(3, 2)));
  REQUIRE(table.current().leader == 1);
  for (std::uint32_t version = 2; version < 20; ++version) REQUIRE(table.apply(change(version, 3)));
  REQUIRE(table.find(19 - kTreeVersionsKept + 1, 0) != nullptr);
  REQUIRE(table.find(19 - kTreeVersionsKept, 0) == nullptr);
  REQUIRE(table.find(20, 0) == nullptr);
}

TEST_CASE("trees are a part of digest and snapshot") {
  const TreePlan plan = plan_of(9, "best", 1);
  TreeTable table(plan_trees(plan, {})), other_table(plan_trees(plan, {}));
  kv::KvStore store, other_store;
  TreeStateMachine state(store, table), other(other_store, other_table);
  kv::PutRequest put;
  put.key = "k";
  put.value = "v";
  REQUIRE_FALSE(is_tree_change(kv::encode(put)));
  state.apply(Slot(0), kv::encode(put));
  REQUIRE(state.digest() == store.digest());
  TreeSet set = plan_trees(plan, {.leader = 4});
  set.version = 1;
  state.apply(Slot(1), encode(set));
  REQUIRE(state.digest() != store.digest());
  REQUIRE(other.load(state.save()).ok());
  REQUIRE(other.digest() == state.digest());
  REQUIRE(other_table.version() == 1);
  REQUIRE(other_table.current().leader == 4);
  const std::uint64_t digest = other.digest();
  std::string damaged = state.save();
  damaged[4] ^= 1;  // the tag
  REQUIRE_FALSE(other.load(damaged).ok());
  REQUIRE(other.digest() == digest);
}

}  // namespace ingot
