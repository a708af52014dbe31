#include "services/ingotctl/verbs/plan.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/planning/cost_model_file.h"
#include "core/planning/limits.h"
#include "core/planning/tree_file.h"
#include "core/planning/tree_planner/planner.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/ingotctl/files.h"
#include "services/ingotctl/render/plan.h"
#include "services/ingotctl/render/plan_picture.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

constexpr int kCoreIdMax = 65535;

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

// The costs of the whole machine or of the group.
absl::StatusOr<CostModel> model_for(const CostModel& machine, const std::vector<int>& group) {
  if (group.empty()) return machine;
  std::vector<CoreId> ids;
  for (const int id : group) ids.push_back(CoreId(static_cast<CoreId::rep>(id)));
  if (ids.size() < 2) return absl::InvalidArgumentError("the group has only one core; a tree takes at least two");
  return restrict_to(machine, ids);
}

absl::StatusOr<PlanRequest> request_for(const CostModel& model, const PlanArguments& arguments) {
  const absl::StatusOr<Objective> objective = parse_objective(arguments.objective);
  if (!objective.ok()) return objective.status();
  PlanRequest request{.objective = *objective, .seed = arguments.seed};
  request.budget.evaluations = arguments.evaluations;
  if (arguments.root) {
    request.root = model.index_of(CoreId(static_cast<CoreId::rep>(*arguments.root)));
    if (*request.root < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the root, core ", *arguments.root, ", is not ",
                       arguments.group.empty() ? "a core of " : "in the group of cores of ", model.name));
    }
  }
  return request;
}

// Starts the time limit now.
void limit_time(const PlanArguments& arguments, PlanRequest& request) {
  if (arguments.by_evaluations_only) return;
  const auto end = std::chrono::steady_clock::now() + arguments.budget;
  request.budget.out_of_time = [end] { return std::chrono::steady_clock::now() >= end; };
}

absl::StatusOr<const Planner*> planner_named(const std::string& name) {
  if (const Planner* planner = find_planner(name)) return planner;
  std::vector<std::string> names;
  for (const Planner& planner : planners()) names.push_back(planner.name);
  return absl::InvalidArgumentError(absl::StrCat("there is no planner '", name, "'; use ", join_or(names)));
}

absl::StatusOr<PlannedTree> planned_by(const Planner& planner, const CostModel& model, PlanRequest request,
                                       const PlanArguments& arguments) {
  limit_time(arguments, request);
  absl::StatusOr<Tree> tree = planner.plan(model, request);
  if (!tree.ok()) return tree.status();
  const Prediction prediction = predict(model, *tree);
  return PlannedTree{planner.name, request.objective, *std::move(tree), prediction};
}

void print(const CostModel& model, const PlannedTree& plan, const std::string& output) {
  std::cout << (output == "json"  ? plan_json(model, plan) + "\n"
                : output == "dot" ? plan_dot(model, plan)
                : output == "svg" ? plan_picture(model, plan)
                                  : plan_table(model, plan));
}

// A tree must cover all cores of the machine or the group; a planned tree names its cores itself.
absl::Status check_cores(const CostModel& machine, const NamedTree& named, const PlanArguments& arguments) {
  const auto wrong = [&](const char* what, CoreId core, const char* why) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.evaluate, ": it ", what, " core ", core.value(), why, machine.name));
  };
  for (const CoreId core : named.cores) {
    if (machine.index_of(core) < 0) return wrong("names", core, ", which is not a core of ");
  }
  if (named.planned && arguments.group.empty()) return absl::OkStatus();
  const absl::StatusOr<CostModel> wanted = model_for(machine, arguments.group);
  if (!wanted.ok()) return wanted.status();
  for (const CoreId core : named.cores) {
    if (wanted->index_of(core) < 0) return wrong("names", core, ", which is not in the group of cores of ");
  }
  for (const auto& core : wanted->cores) {
    const bool there = std::find(named.cores.begin(), named.cores.end(), core.id) != named.cores.end();
    if (there) continue;
    return wrong("lacks", core.id, arguments.group.empty() ? "; give --group if it is not for all cores of "
                                                           : " of the group of cores of ");
  }
  return absl::OkStatus();
}

absl::Status run_evaluate(const CostModel& machine, const PlanArguments& arguments) {
  const absl::StatusOr<NamedTree> named = read_file_as<NamedTree>(arguments.evaluate, read_tree);
  if (!named.ok()) return named.status();
  if (const absl::Status status = check_cores(machine, *named, arguments); !status.ok()) return status;
  const absl::StatusOr<CostModel> model = restrict_to(machine, named->cores);
  if (!model.ok()) return model.status();
  const absl::StatusOr<Objective> objective = parse_objective(arguments.objective);
  if (!objective.ok()) return objective.status();
  print(*model, {"given", *objective, named->tree, predict(*model, named->tree)}, arguments.output);
  return absl::OkStatus();
}

absl::Status run_compare(const CostModel& model, const PlanRequest& request, const PlanArguments& arguments) {
  if (arguments.output != "table" && arguments.output != "json") {
    return absl::InvalidArgumentError("--compare prints a table or json; for a picture choose one planner");
  }
  Comparison comparison{request.objective, {}};
  for (const Planner& planner : planners()) {
    absl::StatusOr<PlannedTree> plan = planned_by(planner, model, request, arguments);
    if (plan.ok()) {
      comparison.plans.push_back(*std::move(plan));
      if (arguments.output == "json") std::cout << plan_json(model, comparison.plans.back()) << "\n";
    }
  }
  if (arguments.output == "table") std::cout << comparison_table(model, comparison);
  return absl::OkStatus();
}

// Errors: INVALID_ARGUMENT and OUT_OF_RANGE for wrong arguments, DEADLINE_EXCEEDED.
absl::Status run_plan(const PlanArguments& arguments) {
  const absl::StatusOr<CostModel> machine = read_file_as<CostModel>(arguments.machine, read_machine);
  if (!machine.ok()) return machine.status();
  if (!arguments.evaluate.empty()) return run_evaluate(*machine, arguments);
  const absl::StatusOr<CostModel> model = model_for(*machine, arguments.group);
  if (!model.ok()) return model.status();
  const absl::StatusOr<PlanRequest> request = request_for(*model, arguments);
  if (!request.ok()) return request.status();
  if (arguments.compare) return run_compare(*model, *request, arguments);
  const absl::StatusOr<const Planner*> planner = planner_named(arguments.planner);
  if (!planner.ok()) return planner.status();
  const absl::StatusOr<PlannedTree> plan = planned_by(**planner, *model, *request, arguments);
  if (!plan.ok()) return plan.status();
  print(*model, *plan, arguments.output);
  return absl::OkStatus();
}

void add_plan_limits(CLI::App& command, PlanArguments& arguments) {
  command.add_option("--seed", arguments.seed, "Of the search: the same seed, the same tree")
      ->capture_default_str()
      ->type_name("NUMBER");
  add_duration(command, "--budget", arguments.budget, "How long planning may take");
  command
      .add_option("--evaluations", arguments.evaluations,
                  "Trees that the search may look at; without it, as many as suit the cores")
      ->check(whole_number(1))
      ->type_name("NUMBER");
}

}  // namespace

void register_plan(CLI::App& app, Command& chosen) {
  static PlanArguments arguments;
  CLI::App* command = app.add_subcommand("plan", "Plan the tree on which messages spread over a machine's cores");
  command->add_option("--machine", arguments.machine, "The machine file")->required()->type_name("FILE");
  command->add_option("--planner", arguments.planner, "Which planner; --compare lists them")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--objective", arguments.objective, "What counts: broadcast, reduction, barrier or throughput")
      ->check(one_of({"broadcast", "reduction", "barrier", "throughput"}).description(""))
      ->capture_default_str()
      ->type_name("WHAT");
  CLI::Option* root = command->add_option("--root", arguments.root, "The root; without it, the planner chooses");
  root->check(whole_number(0, kCoreIdMax))->type_name("CORE");
  CLI::Option* group = command->add_option("--group", arguments.group, "Only these cores; without it, all");
  group->check(whole_number(0, kCoreIdMax))->delimiter(',')->type_name("CORE,...");
  CLI::Option* evaluate =
      command->add_option("--evaluate", arguments.evaluate, "Predict the tree in this file instead");
  evaluate->type_name("FILE")->excludes(root);
  command->add_flag("--compare", arguments.compare, "All planners side by side")->excludes(evaluate);
  add_plan_limits(*command, arguments);
  add_form(*command, arguments.output, {"table", "json", "dot", "svg"}, "How to print: table, json, dot or svg");
  command->footer(
      "With --evaluations and no --budget, time plays no part: the same command gives the same tree everywhere.\n"
      "Examples:\n"
      "  ingotctl plan --machine=machines/intel-scc-48.json --compare\n"
      "  ingotctl plan --machine=here.json --objective=barrier --group=0,1,2,3 -o json > tree.json\n"
      "  ingotctl plan --machine=here.json --evaluate=tree.json -o svg > tree.svg");
  command->callback([&chosen, command] {
    arguments.by_evaluations_only = command->count("--evaluations") > 0 && command->count("--budget") == 0;
    chosen = [](const CtlOptions&) { return run_plan(arguments); };
  });
}

}  // namespace ingot::services_ingotctl_verbs
