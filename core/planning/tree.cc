#include "core/planning/tree.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ingot::inline core_planning {

absl::Status validate(const Tree& tree) {
  const int size = tree.size();
  if (size == 0) return absl::InvalidArgumentError("the tree has no core");
  if (tree.root < 0 || tree.root >= size) return absl::InvalidArgumentError("the tree's root is not one of its cores");
  std::vector<bool> has_parent(static_cast<std::size_t>(size), false);
  for (const auto& children : tree.children) {
    for (const int child : children) {
      if (child < 0 || child >= size) return absl::InvalidArgumentError("a child is not one of the tree's cores");
      if (child == tree.root) return absl::InvalidArgumentError("the tree has a cycle: its root is somebody's child");
      if (has_parent[child])
        return absl::InvalidArgumentError("a core of the tree has two parents, or is listed twice");
      has_parent[child] = true;
    }
  }
  // Each core has one parent at most, so a core that the root does not reach has none or is below a cycle.
  const std::size_t reached = preorder_of(tree).size();
  if (reached == tree.children.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the root reaches only ", reached, " of the tree's ", size,
                                                 " cores; the others are missing or form a cycle"));
}

std::vector<int> parents_of(const Tree& tree) {
  std::vector<int> parents(tree.children.size(), -1);
  for (int core = 0; core < tree.size(); ++core) {
    for (const int child : tree.children[core]) parents[child] = core;
  }
  return parents;
}

std::vector<int> preorder_of(const Tree& tree) {
  std::vector<int> order, open{tree.root};
  while (!open.empty()) {
    const int core = open.back();
    open.pop_back();
    order.push_back(core);
    const auto& children = tree.children[core];
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return order;
}

void order_children(const CostModel& model, Tree& tree) {
  std::vector<double> below(tree.children.size(), 0.0);  // from a core's having the message until its subtree has it
  std::vector<int> order = preorder_of(tree);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    auto& children = tree.children[*at];
    const auto tail = [&](int child) { return model.receive.at(*at, child) + below[child]; };
    std::stable_sort(children.begin(), children.end(), [&](int a, int b) { return tail(a) > tail(b); });
    double sent = 0;
    for (const int child : children) {
      sent += model.send.at(*at, child);
      below[*at] = std::max(below[*at], sent + tail(child));
    }
  }
}

}  // namespace ingot::core_planning
