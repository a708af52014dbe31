// Trees over the ranks of a group, and one core's place in them.
#pragma once

#include <algorithm>
#include <vector>

#include "core/planning/tree.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc::inline transport_scc_broadcast {

// Cores, not ranks.
struct PlaceInTree {
  int parent = -1;            // -1: this is the root
  std::vector<int> children;  // in the order of service
  std::vector<int> siblings;  // the parent's children, this core among them; empty for the root
  int position = 0;           // of this core among them
};

inline PlaceInTree place_in(const Tree& tree, const Group& group, int core) {
  const int rank = group.rank(core);
  const auto cores_of = [&](const std::vector<int>& ranks) {
    std::vector<int> cores;
    for (const int each : ranks) cores.push_back(group.core(each));
    return cores;
  };
  PlaceInTree place;
  place.children = cores_of(tree.children[static_cast<std::size_t>(rank)]);
  for (int parent = 0; parent < tree.size(); ++parent) {
    const auto& children = tree.children[static_cast<std::size_t>(parent)];
    const auto found = std::find(children.begin(), children.end(), rank);
    if (found == children.end()) continue;
    place.parent = group.core(parent);
    place.siblings = cores_of(children);
    place.position = static_cast<int>(found - children.begin());
  }
  return place;
}

// The parent of the i-th core, counted from the root, is core (i - 1) / k (papers: OC-Bcast).
inline Tree k_ary_tree(const Group& group, int root_core, int k) {
  Tree tree(group.size(), group.rank(root_core));
  for (int i = 1; i < group.size(); ++i) {
    const int parent = group.rank(group.core_at((i - 1) / k, root_core));
    tree.children[static_cast<std::size_t>(parent)].push_back(group.rank(group.core_at(i, root_core)));
  }
  return tree;
}

}  // namespace ingot::scc::transport_scc_broadcast
