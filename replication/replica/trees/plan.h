// Plans the trees of a group: from the costs of messages between its replicas' cores, or of a given shape.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"
#include "core/replica_set.h"
#include "replication/replica/trees/set.h"

namespace ingot::inline replication_replica_trees {

// The inputs of planning that stay the same while the instance lives. A plain value.
//
// Shapes: "star"; "best": see best_shape_for; "two-level": a root has about the square root of the group as its
// children, and the others hang from these, on their own core where there are several cores; or the name of a planner
// of core/planning/tree_planner.
struct TreePlan {
  int replicas = 1;
  int voters = 1;          // replicas 0 .. voters-1 may be roots
  std::string shape = "best";
  std::vector<int> core{};   // by replica: index into machine.cores; empty: all on one
  CostModel machine{};       // of the cores; empty: all replicas are on one core, or costs are unknown
};

// True if broadcasts go to every replica directly, without a relay's header: the shape is a star, or the group is so
// small that its best shape is one.
bool is_plain_star(const TreePlan& plan);

// The shapes of plan_trees, "best" first.
std::vector<std::string_view> tree_shapes();

// The inputs of planning that change over time.
struct TreeConditions {
  int leader = 0;
  ReplicaSet bypassed = {};
  std::vector<std::uint8_t> slowdown{};  // by replica, 1 to kSlowdownMax; empty: 1 each
  std::int64_t evaluations = 0;          // trees a search may evaluate, for each root; 0: the planner's default
};

// One tree for each voter as the root. The leader is its root's first child and a leaf: it learns first, depends on no
// other replica, and has the most work. Bypassed replicas are the root's last children, also leaves. The planner places
// the others. The caller sets version and reason.
// REQUIRES: a shape of tree_shapes(), leader < replicas.
TreeSet plan_trees(const TreePlan& plan, const TreeConditions& conditions);

// The costs between replicas that planning uses: those of their cores, times each replica's slowdown. Two replicas on
// one core pass messages through its cache, which costs less than between any two cores; replicas that share a core are
// separate nodes. Indexes and ids are the replicas of `members`.
CostModel replica_costs(const TreePlan& plan, std::span<const int> members, std::span<const std::uint8_t> slowdown);

}  // namespace ingot::replication_replica_trees
