// Plans the trees of a group: from what messages cost between the cores where its replicas run, or of a given shape.
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

namespace ingot {

// What trees are planned from; the same for as long as the instance lives. A plain value.
//
// Shapes: "star"; "best": see best_shape_for; "two-level": a root's children are of about the square root of the
// group, and the others hang from them, on their own core where there are several; or the name of a planner of
// core/planning/tree_planner.
struct TreePlan {
  int replicas = 1;
  int voters = 1;          // replicas 0 .. voters-1 may be roots
  std::string shape = "best";
  std::vector<int> core{};   // by replica: index into machine.cores; empty: all on one
  CostModel machine{};       // of the cores; empty: all replicas are on one core, or nothing is known
};

// True if broadcasts go to everybody directly, without a relay's header: the shape is a star, or the group so small
// that the best one is.
bool is_plain_star(const TreePlan& plan);

// Shapes that plan_trees knows, "best" first.
std::vector<std::string_view> tree_shapes();

// What depends on the moment.
struct TreeConditions {
  int leader = 0;
  ReplicaSet bypassed = {};
  std::vector<std::uint8_t> slowdown{};  // by replica, 1 to kSlowdownMax; empty: 1 each
  std::int64_t evaluations = 0;        // trees that a search may look at, per root; 0: the planner's default
};

// One tree for each voter as the root. The leader is its root's first child and a leaf: it learns first, depends on
// nobody, and has enough to do. By-passed replicas are its last ones, leaves likewise. Those in between are planned.
// Version and reason are left for the caller. REQUIRES: a shape of tree_shapes(), leader < replicas.
TreeSet plan_trees(const TreePlan& plan, const TreeConditions& conditions);

// The costs between replicas that the plan uses: those of their cores, times how slow each is. Two on one core pass
// messages through its cache, so they cost less than any two cores, and one that takes turns with others on its core is
// a node of its own like them. Indexes and ids are the replicas of `members`.
CostModel replica_costs(const TreePlan& plan, std::span<const int> members, std::span<const std::uint8_t> slowdown);

}  // namespace ingot
