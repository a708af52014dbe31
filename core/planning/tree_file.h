// Tree files: a tree as JSON, cores by id, children in the order in which they are sent to. The output of `ingotctl
// plan -o json` is a tree file, too: other keys are ignored.
//
//   {"root": 13, "children": {"13": [4, 19], "4": [0, 1]}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/planning/cost_model.h"
#include "core/planning/tree.h"
#include "core/types.h"

namespace ingot::inline core_planning {

// A tree by core ids. `cores` has all of its cores, the root first, the others in the file's order; `tree` uses their
// indexes there.
struct NamedTree {
  std::vector<CoreId> cores;
  Tree tree;
  bool planned = false;  // the file has its planner, as `ingotctl plan` writes it: its cores are the requested ones
};

// Errors: INVALID_ARGUMENT with one sentence: not JSON, no root, a child that is not a core, and defects of the tree
// itself: two parents, a cycle, cores that the root does not reach.
absl::StatusOr<NamedTree> read_tree(std::string_view text);

// `children` of write_tree: {"13":[4,19],"4":[0,1]}, ascending by id, without leaves.
std::string children_json(const CostModel& model, const Tree& tree);

// The whole file.
// REQUIRES: a right tree over the model's cores.
std::string write_tree(const CostModel& model, const Tree& tree);

}  // namespace ingot::core_planning
