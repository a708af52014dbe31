// Planning time against the number of cores, on derived machines of packages with up to 64 cores, with the planners'
// default number of evaluations and no time limit. Plot: bench/planning_plot.py.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
#include "core/planning/cost_model_derive.h"
#include "core/planning/tree_planner/planner.h"
#include "services/cli/cli.h"
#include "services/cli/table.h"

namespace ingot::bench {
namespace {

struct Measurement {
  int cores;
  std::string planner, objective;
  double median_ms;      // on the clock
  double median_cpu_ms;  // of the planning thread: the time with a core of its own
  double broadcast_cycles, objective_cycles;
};

CostModel machine_of(int cores) {
  const int packages = std::max(1, cores / 64);
  const std::string topology = absl::StrCat("package:", packages, " l3:2 core:", cores / packages / 2, " pu:1");
  const auto machine = synthetic_machine(topology);
  INGOT_CHECK(machine.ok());
  return derive_machine(*machine, topology, Threads::kOnePerCore);
}

double thread_cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Measurement measure(const CostModel& model, const Planner& planner, Objective objective, int repetitions) {
  std::vector<double> times_ms, cpu_times_ms;
  Tree tree;
  for (int i = 0; i < repetitions; ++i) {
    PlanRequest request{.objective = objective, .seed = static_cast<std::uint64_t>(i + 1)};
    const auto begin = std::chrono::steady_clock::now();
    const double cpu_begin_ms = thread_cpu_ms();
    const auto planned = planner.plan(model, request);
    cpu_times_ms.push_back(thread_cpu_ms() - cpu_begin_ms);
    times_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    INGOT_CHECK(planned.ok(), "only exact may refuse, and it is not asked");
    tree = *planned;
  }
  const Prediction prediction = predict(model, tree);
  return {model.size(),         planner.name,         std::string(name_of(objective)), median(times_ms),
          median(cpu_times_ms), prediction.broadcast, cost_of(prediction, objective)};
}

void print_json(const Measurement& m) {
  std::cout << absl::StrFormat(
                   "{\"bench\":\"planning\",\"cores\":%d,\"planner\":\"%s\",\"objective\":\"%s\",\"plan_ms\":%.2f,"
                   "\"plan_cpu_ms\":%.2f,\"broadcast_cycles\":%.1f,\"objective_cycles\":%.1f}",
                   m.cores, m.planner, m.objective, m.median_ms, m.median_cpu_ms, m.broadcast_cycles,
                   m.objective_cycles)
            << std::endl;
}

absl::Status run(const std::string& output, int cores_max, int repetitions) {
  using enum Table::Align;
  Table table({{"cores", kRight},
               {"planner", kLeft},
               {"objective", kLeft},
               {"plan ms", kRight},
               {"plan cpu ms", kRight},
               {"cycles", kRight}});
  for (int cores = 8; cores <= cores_max; cores *= 2) {
    const CostModel model = machine_of(cores);
    for (const char* planner : {"smelt", "ingot"}) {
      for (const Objective objective : kObjectives) {
        if (std::string(planner) == "smelt" && objective != Objective::kBroadcast) continue;  // smelt's only one
        std::cerr << "planning " << cores << " cores with " << planner << "\n";
        const Measurement m = measure(model, *find_planner(planner), objective, repetitions);
        if (output == "json") print_json(m);
        table.add_row({absl::StrCat(cores), m.planner, m.objective, absl::StrFormat("%.2f", m.median_ms),
                       absl::StrFormat("%.2f", m.median_cpu_ms), absl::StrFormat("%.1f", m.objective_cycles)});
      }
    }
  }
  if (output != "json") table.print(std::cout);
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) {
  CLI::App app("Measures how long planning a tree takes.", "planning");
  std::string output = "table";
  int cores_max = 1024, repetitions = 3;
  app.add_option("-o,--output", output, "How to print: table or json")->check(ingot::one_of({"table", "json"}));
  app.add_option("--cores-max", cores_max, "Up to so many cores")->check(ingot::whole_number(8, 2048));
  app.add_option("--repetitions", repetitions, "The median of so many counts")->check(ingot::whole_number(1, 1000));
  return ingot::run_cli(app, argc, argv, [&] { return ingot::bench::run(output, cores_max, repetitions); });
}
