// The trees in force, and those of a few versions before: what is still on its way travels on by the tree that it left
// on.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "replication/replica/trees/set.h"

namespace ingot {

// Every replica feeds it the agreed changes in their order, so all replicas have the same trees at the same slot.
// Not thread-safe.
class TreeTable {
 public:
  // REQUIRES: initial.replicas() >= 1.
  explicit TreeTable(TreeSet initial) { sets_.push_back(std::move(initial)); }

  // An agreed change. Takes effect if it is right and its version is the next one; the first of two proposals for one
  // version wins, on every replica the same. Returns whether it took effect.
  bool apply(std::string_view change);

  // A snapshot's trees take the place of all that are known. REQUIRES: they are of as many replicas.
  void install(TreeSet set);

  int replicas() const { return current().replicas(); }
  const TreeSet& current() const { return sets_.back(); }
  std::uint32_t version() const { return current().version; }

  // Null: too old, or not known yet (see version()), or a root without a tree, which sends to everybody itself.
  const RootedTree* find(std::uint32_t version, int root) const;

 private:
  std::deque<TreeSet> sets_;  // ascending versions, the newest last; at most kTreeVersionsKept
};

}  // namespace ingot
