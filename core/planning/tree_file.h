// Tree files: a tree as JSON, cores by id, children in the order in which they are sent to. The objects that
// `ingotctl plan -o json` prints are tree files, too: other keys are left alone.
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

namespace ingot {

// A tree by core ids. `cores` are all that it names, the root first, the others in the file's order; `tree` counts them
// by their index there.
struct NamedTree {
  std::vector<CoreId> cores;
  Tree tree;
  bool planned = false;  // it names its planner, as `ingotctl plan` does: its cores are those that were asked for
};

// Errors: INVALID_ARGUMENT with one sentence: not JSON, no root, a child that is no core, and whatever is wrong with
// the tree itself: two parents, a cycle, cores that the root does not reach.
absl::StatusOr<NamedTree> read_tree(std::string_view text);

// `children` of write_tree: {"13":[4,19],"4":[0,1]}, ascending by id, without leaves.
std::string children_json(const CostModel& model, const Tree& tree);

// The whole file. REQUIRES: a right tree over the model's cores.
std::string write_tree(const CostModel& model, const Tree& tree);

}  // namespace ingot
