#include "services/ingotctl/render/plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/planning/tree_file.h"
#include "services/cli/table.h"

namespace ingot::inline services_ingotctl_render {
namespace {

std::string number(double cycles) { return absl::StrFormat("%.1f", cycles); }

// Two decimals: more than any measurement's precision.
std::string exact_number(double cycles) { return absl::StrFormat("%.2f", cycles); }

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_subtree(const CostModel& model, const Tree& tree, const std::vector<double>& arrived, int top,
                    std::string& out) {
  std::vector<std::pair<int, int>> open{{top, 0}};  // core, depth
  while (!open.empty()) {
    const auto [core, depth] = open.back();
    open.pop_back();
    const MachineCore& about = model.cores[core];
    const std::string name =
        absl::StrCat(std::string(static_cast<std::size_t>(2 * depth), ' '), "core ", about.id.value());
    absl::StrAppendFormat(&out, "%-40s node %2d  %8.1f\n", name, about.numa_node, arrived[core]);
    const auto& children = tree.children[core];
    for (auto child = children.rbegin(); child != children.rend(); ++child) open.emplace_back(*child, depth + 1);
  }
}

}  // namespace

std::string cycles_and_time(double cycles, double frequency_hz) {
  std::string text = absl::StrFormat("%.0f cycles", cycles);
  if (frequency_hz > 0) absl::StrAppendFormat(&text, " (%.2f us)", cycles / frequency_hz * 1e6);
  return text;
}

std::string plan_json(const CostModel& model, const PlannedTree& plan) {
  const Prediction& p = plan.prediction;
  return absl::StrCat(
      "{\"machine\":", quoted(model.name), ",\"planner\":", quoted(plan.planner), ",\"objective\":\"",
      std::string(name_of(plan.objective)), "\",\"root\":", model.cores[plan.tree.root].id.value(),
      ",\"children\":", children_json(model, plan.tree),
      ",\"predicted\":{\"broadcast_cycles\":", exact_number(p.broadcast),
      ",\"reduction_cycles\":", exact_number(p.reduction), ",\"barrier_cycles\":", exact_number(p.barrier),
      ",\"agreement_cycles\":", exact_number(p.agreement), ",\"bottleneck_cycles\":", exact_number(p.bottleneck), "}}");
}

std::string plan_table(const CostModel& model, const PlannedTree& plan) {
  const auto line = [&](const char* what, double cycles) {
    return absl::StrFormat("%-12s%s\n", what, cycles_and_time(cycles, model.frequency_hz));
  };
  const Prediction& p = plan.prediction;
  std::string out =
      absl::StrFormat("%s: %d cores, planner %s, objective %s, root %d\n\n", model.name, model.size(), plan.planner,
                      std::string(name_of(plan.objective)), model.cores[plan.tree.root].id.value());
  out += line("broadcast", p.broadcast) + line("reduction", p.reduction) + line("barrier", p.barrier) +
         line("agreement", p.agreement) + line("bottleneck", p.bottleneck);
  out += absl::StrFormat("\n%-40s %7s  %8s\n", "TREE, IN SEND ORDER", "", "HAS IT AT");
  append_subtree(model, plan.tree, broadcast_arrivals(model, plan.tree), plan.tree.root, out);
  return out;
}

std::string plan_dot(const CostModel& model, const PlannedTree& plan) {
  const std::vector<double> arrived = broadcast_arrivals(model, plan.tree);
  std::string out = absl::StrCat("digraph tree {\n  label=", quoted(absl::StrCat(model.name, ", ", plan.planner)),
                                 ";\n  node [shape=circle];\n");
  std::map<std::pair<int, int>, std::vector<int>> nodes;
  for (int core = 0; core < model.size(); ++core) {
    nodes[{model.cores[core].package, model.cores[core].numa_node}].push_back(core);
  }
  for (const auto& [place, cores] : nodes) {
    absl::StrAppendFormat(&out, "  subgraph cluster_%d_%d {\n    label=\"package %d, NUMA node %d\";\n", place.first,
                          place.second, place.first, place.second);
    for (const int core : cores) {
      const int id = model.cores[core].id.value();
      absl::StrAppendFormat(&out, "    %d [label=\"%d\\n%.0f\"];\n", id, id, arrived[core]);
    }
    out += "  }\n";
  }
  for (const int core : preorder_of(plan.tree)) {
    int turn = 0;
    for (const int child : plan.tree.children[core]) {
      absl::StrAppendFormat(&out, "  %d -> %d [label=\"%d: %.0f+%.0f\"];\n", model.cores[core].id.value(),
                            model.cores[child].id.value(), ++turn, model.send.at(core, child),
                            model.receive.at(core, child));
    }
  }
  return out + "}\n";
}

std::string comparison_table(const CostModel& model, const Comparison& comparison) {
  using enum Table::Align;
  Table table({{"planner", kLeft},
               {"root", kRight},
               {"broadcast", kRight},
               {"reduction", kRight},
               {"barrier", kRight},
               {"agreement", kRight},
               {"bottleneck", kRight},
               {"", kLeft}});
  double least = -1;
  for (const PlannedTree& plan : comparison.plans) {
    const double cost = cost_of(plan.prediction, comparison.objective);
    if (least < 0 || cost < least) least = cost;
  }
  for (const PlannedTree& plan : comparison.plans) {
    const Prediction& p = plan.prediction;
    table.add_row({plan.planner, absl::StrCat(model.cores[plan.tree.root].id.value()), number(p.broadcast),
                   number(p.reduction), number(p.barrier), number(p.agreement), number(p.bottleneck),
                   cost_of(p, comparison.objective) <= least ? "*" : ""});
  }
  return absl::StrCat(model.name, ", ", model.size(), " cores, planned for ",
                      std::string(name_of(comparison.objective)), ", in cycles\n\n", table.str());
}

}  // namespace ingot::services_ingotctl_render
