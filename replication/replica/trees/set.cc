#include "replication/replica/trees/set.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/wire.h"
#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {
namespace {

constexpr std::uint8_t kFormat = 1;

void write_tree(WireWriter& out, const Tree& tree) {
  out.u8(static_cast<std::uint8_t>(tree.root));
  for (const int parent : preorder_of(tree)) {
    for (const int child : tree.children[parent]) {
      out.u8(static_cast<std::uint8_t>(child)).u8(static_cast<std::uint8_t>(parent));
    }
  }
}

// Fails the reader if the bytes are not a tree over all replicas.
std::optional<RootedTree> read_tree(WireReader& in, int replicas) {
  Tree tree(replicas, in.u8());
  for (int edge = 1; edge < replicas; ++edge) {
    const int child = in.u8();
    const int parent = in.u8();
    if (child >= replicas || parent >= replicas) return std::nullopt;
    tree.children[parent].push_back(child);
  }
  if (in.failed() || !validate(tree).ok()) return std::nullopt;
  return RootedTree(std::move(tree));
}

bool read_head(WireReader& in, int replicas, TreeSet& set) {
  if (in.u8() != kTreeChangeTag || in.u8() != kFormat) return false;
  set.version = in.u32();
  if (in.u8() != replicas) return false;
  const std::uint8_t reason = in.u8();
  if (reason > static_cast<std::uint8_t>(TreeReason::kCosts)) return false;
  set.reason = static_cast<TreeReason>(reason);
  set.leader = in.u8();
  set.bypassed = ReplicaSet::from_bits(in.u64());
  if (set.leader >= replicas || !ReplicaSet::first(replicas).contains_all(set.bypassed)) return false;
  for (int replica = 0; replica < replicas; ++replica) {
    set.slowdown.push_back(in.u8());
    if (set.slowdown.back() < 1 || set.slowdown.back() > kSlowdownMax) return false;
  }
  return !in.failed();
}

}  // namespace

const char* name_of(TreeReason reason) {
  switch (reason) {
    case TreeReason::kInitial:
      return "initial";
    case TreeReason::kBypass:
      return "by-pass";
    case TreeReason::kReturn:
      return "return";
    case TreeReason::kLeader:
      return "leader";
    case TreeReason::kCosts:
      return "costs";
  }
  return "?";
}

RootedTree::RootedTree(Tree right_tree)
    : tree(std::move(right_tree)), parent(parents_of(tree)), subtree(static_cast<std::size_t>(tree.size())) {
  std::vector<int> order = preorder_of(tree);
  std::reverse(order.begin(), order.end());
  for (const int replica : order) {
    subtree[replica].insert(replica);
    if (parent[replica] >= 0) subtree[parent[replica]] |= subtree[replica];
  }
}

ReplicaSet TreeSet::inner() const {
  ReplicaSet inner;
  for (const auto& tree : trees) {
    for (int replica = 0; tree && replica < replicas(); ++replica) {
      if (tree->inner(replica)) inner.insert(replica);
    }
  }
  return inner;
}

std::string encode(const TreeSet& set) {
  INGOT_CHECK(set.slowdown.size() == set.trees.size());
  WireWriter out;
  out.u8(kTreeChangeTag).u8(kFormat).u32(set.version).u8(static_cast<std::uint8_t>(set.replicas()));
  out.u8(static_cast<std::uint8_t>(set.reason)).u8(static_cast<std::uint8_t>(set.leader)).u64(set.bypassed.bits());
  for (const std::uint8_t slowdown : set.slowdown) out.u8(slowdown);
  const auto roots =
      std::count_if(set.trees.begin(), set.trees.end(), [](const auto& tree) { return tree.has_value(); });
  out.u8(static_cast<std::uint8_t>(roots));
  for (const auto& tree : set.trees) {
    if (tree) write_tree(out, tree->tree);
  }
  return out.take();
}

std::optional<TreeSet> decode_tree_set(std::string_view bytes, int replicas) {
  WireReader in(bytes);
  TreeSet set;
  if (!read_head(in, replicas, set)) return std::nullopt;
  set.trees.resize(static_cast<std::size_t>(replicas));
  const int roots = in.u8();
  int last_root = -1;
  for (int i = 0; i < roots; ++i) {
    auto tree = read_tree(in, replicas);
    if (!tree || tree->tree.root <= last_root) return std::nullopt;
    last_root = tree->tree.root;
    set.trees[last_root] = std::move(tree);
  }
  if (!in.ok() || encode(set) != bytes) return std::nullopt;  // one encoding per value
  return set;
}

}  // namespace ingot::replication_replica_trees
