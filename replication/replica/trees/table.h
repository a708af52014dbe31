// The trees in force, and a few earlier versions: a message travels by the tree that it was sent by.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "replication/replica/trees/set.h"

namespace ingot::inline replication_replica_trees {

// Every replica applies the agreed changes in order, so all replicas have the same trees at the same slot. Not
// thread-safe.
class TreeTable {
 public:
  // REQUIRES: initial.replicas() >= 1.
  explicit TreeTable(TreeSet initial) { sets_.push_back(std::move(initial)); }

  // Applies an agreed change, if it is well-formed and its version is the next one. Of two proposals for one version
  // the first wins, on all replicas alike. Returns whether it took effect.
  bool apply(std::string_view change);

  // A snapshot's trees replace all known ones.
  // REQUIRES: they have the same number of replicas.
  void install(TreeSet set);

  int replicas() const { return current().replicas(); }
  const TreeSet& current() const { return sets_.back(); }
  std::uint32_t version() const { return current().version; }

  // Null: too old, or not known yet (see version()), or the root has no tree and sends to all replicas itself.
  const RootedTree* find(std::uint32_t version, int root) const;

 private:
  std::deque<TreeSet> sets_;  // ascending versions, the newest last; at most kTreeVersionsKept
};

}  // namespace ingot::replication_replica_trees
