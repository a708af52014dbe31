// Runs `ingotctl plan`: plans trees and predicts the costs of collectives on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/planning/limits.h"

namespace ingot {

struct PlanArguments {
  std::string machine;  // file
  std::string planner = "best";
  std::string objective = "broadcast";
  std::optional<int> root;  // core id
  std::vector<int> group;   // core ids; empty: all
  std::string evaluate;     // tree file; empty: plan one
  bool compare = false;
  std::uint64_t seed = 1;
  std::chrono::nanoseconds budget = std::chrono::milliseconds(kPlanBudgetMs);
  std::int64_t evaluations = 0;      // 0: chosen by the number of cores
  bool by_evaluations_only = false;  // without the time limit `budget`
  std::string output = "table";      // table | json | dot | svg
};

// Prints to standard output. Errors: INVALID_ARGUMENT and OUT_OF_RANGE for wrong arguments, DEADLINE_EXCEEDED.
absl::Status run_plan(const PlanArguments& arguments);

}  // namespace ingot
