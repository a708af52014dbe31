#include "core/planning/tree_planner/planner.h"

namespace ingot::inline core_planning_tree_planner {
namespace {

constexpr Planner kPlanners[] = {
    {"binary", plan_binary, "a complete binary tree"},
    {"fibonacci", plan_fibonacci, "a binary tree whose second subtrees are younger"},
    {"mst", plan_mst, "the minimum spanning tree"},
    {"cluster", plan_cluster, "a star over NUMA nodes, then stars inside them"},
    {"sequential", plan_sequential, "a star"},
    {"bad", plan_bad, "the spanning tree of the dearest edges, to be worse than"},
    {"smelt", plan_smelt, "the adaptive tree of Smelt"},
    {"exact", plan_exact, "the best tree there is, for small groups"},
    {"ingot", plan_ingot, "a search from the best of many simple trees"},
    {"best", plan_best, "the best of all of them"},
};

}  // namespace

std::span<const Planner> planners() { return kPlanners; }

const Planner* find_planner(std::string_view name) {
  for (const Planner& planner : kPlanners) {
    if (name == planner.name) return &planner;
  }
  return nullptr;
}

}  // namespace ingot::core_planning_tree_planner
