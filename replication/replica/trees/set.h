// The trees that a group's broadcasts travel on, one for each replica that may be a root, as one agreed value.
//
//   change   u8 kTreeChangeTag  u8 format  u32 version  u8 replicas  u8 reason  u8 leader  u64 by-passed
//            replicas x u8 slowdown
//            u8 roots, then for each: u8 root, (replicas - 1) x { u8 child, u8 parent }, in send order, parents first
//
// A change is a command of the replicated log, distinguished from clients' commands by its first byte, which no request
// of the key-value store has.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.h"
#include "core/planning/tree.h"
#include "core/replica_set.h"
#include "core/types.h"

namespace ingot::inline replication_replica_trees {

inline constexpr std::uint8_t kTreeChangeTag = 0xC7;

// Why trees were changed, for status and tests.
enum class TreeReason : std::uint8_t { kInitial = 0, kBypass = 1, kReturn = 2, kLeader = 3, kCosts = 4 };
const char* name_of(TreeReason reason);  // "initial", "by-pass", "return", "leader", "costs"

static_assert(kReplicasMax <= ReplicaSet::kCapacity);

// One root's tree, with the lookups that a relay needs. Nodes are replica ids.
struct RootedTree {
  Tree tree;
  std::vector<int> parent;          // by replica; the root's is -1
  std::vector<ReplicaSet> subtree;  // by replica: itself and all nodes below

  // REQUIRES: validate(tree).ok().
  explicit RootedTree(Tree right_tree);
  bool inner(int replica) const { return replica != tree.root && !tree.children[replica].empty(); }
};

// A plain value. Only decode_tree_set() checks the fields.
struct TreeSet {
  std::uint32_t version = 0;
  TreeReason reason = TreeReason::kInitial;
  int leader = 0;                      // of the time of planning: a root sends to it first
  ReplicaSet bypassed;                 // the roots' last children; no replica depends on them
  std::vector<std::uint8_t> slowdown;  // by replica: its planned cost over its peers', 1 to kSlowdownMax
  std::vector<std::optional<RootedTree>> trees;  // by root; none: a star in the order of the ids

  int replicas() const { return static_cast<int>(trees.size()); }
  const RootedTree* of(int root) const { return trees[root] ? &*trees[root] : nullptr; }
  // Replicas that forward messages in some tree.
  ReplicaSet inner() const;
};

std::string encode(const TreeSet& set);

// Nothing, unless the bytes are what encode() writes for a group of `replicas`: each tree has every replica once.
std::optional<TreeSet> decode_tree_set(std::string_view bytes, int replicas);

inline bool is_tree_change(std::string_view command) {
  return !command.empty() && static_cast<std::uint8_t>(command.front()) == kTreeChangeTag;
}

}  // namespace ingot::replication_replica_trees
