// Prints planned trees as tables, JSON or for Graphviz.
#pragma once

#include <string>
#include <vector>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"
#include "core/planning/tree_prediction.h"

namespace ingot::inline services_ingotctl_render {

struct PlannedTree {
  std::string planner;  // "given": a tree from a file
  Objective objective;
  Tree tree;
  Prediction prediction;
};

struct Comparison {
  Objective objective;
  std::vector<PlannedTree> plans;
};

// {"machine","planner","objective","root","children","predicted"} on one line, without a line break at its end.
std::string plan_json(const CostModel& model, const PlannedTree& plan);

// The predictions, then the tree: one core a line, indented by its depth, with the time at which a broadcast reaches
// it.
std::string plan_table(const CostModel& model, const PlannedTree& plan);

// For Graphviz: cores in clusters by package and NUMA node, edges with their costs and their position in the send
// order.
std::string plan_dot(const CostModel& model, const PlannedTree& plan);

// A row for each planner; "*" marks the lowest value in the objective's column.
std::string comparison_table(const CostModel& model, const Comparison& comparison);

// "1301" for 1301.2; with the time if the frequency is known: "1301 cycles (0.52 us)".
std::string cycles_and_time(double cycles, double frequency_hz);

}  // namespace ingot::services_ingotctl_render
