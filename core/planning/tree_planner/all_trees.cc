#include "core/planning/tree_planner/all_trees.h"

#include <algorithm>

namespace ingot::inline core_planning_tree_planner {
namespace {

struct Link {
  int a, b;
};

// The tree of a Prüfer sequence: each entry is the neighbour of the smallest leaf left.
std::vector<Link> decode(int cores, const std::vector<int>& sequence) {
  std::vector<int> degree(static_cast<std::size_t>(cores), 1);
  for (const int core : sequence) ++degree[core];
  std::vector<Link> links;
  for (const int core : sequence) {
    const int leaf = static_cast<int>(std::find(degree.begin(), degree.end(), 1) - degree.begin());
    links.push_back({leaf, core});
    --degree[leaf];
    --degree[core];
  }
  const auto first = std::find(degree.begin(), degree.end(), 1);
  const auto second = std::find(first + 1, degree.end(), 1);
  links.push_back({static_cast<int>(first - degree.begin()), static_cast<int>(second - degree.begin())});
  return links;
}

Tree rooted_at(int cores, int root, const std::vector<Link>& links) {
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(cores));
  for (const Link& link : links) {
    neighbours[link.a].push_back(link.b);
    neighbours[link.b].push_back(link.a);
  }
  Tree tree(cores, root);
  std::vector<Link> open{{root, -1}};
  while (!open.empty()) {
    const auto [core, parent] = open.back();
    open.pop_back();
    for (const int next : neighbours[core]) {
      if (next == parent) continue;
      tree.children[core].push_back(next);
      open.push_back({next, core});
    }
  }
  return tree;
}

// The next sequence in counting order; false after the last.
bool advance(int cores, std::vector<int>& sequence) {
  for (int& digit : sequence) {
    if (++digit < cores) return true;
    digit = 0;
  }
  return false;
}

}  // namespace

bool for_all_trees(int cores, const std::vector<int>& roots, absl::FunctionRef<bool(Tree&)> visit) {
  std::vector<int> sequence(static_cast<std::size_t>(std::max(cores - 2, 0)), 0);
  do {
    const std::vector<Link> links = cores > 1 ? decode(cores, sequence) : std::vector<Link>();
    for (const int root : roots) {
      Tree tree = rooted_at(cores, root, links);
      if (!visit(tree)) return false;
    }
  } while (advance(cores, sequence));
  return true;
}

}  // namespace ingot::core_planning_tree_planner
