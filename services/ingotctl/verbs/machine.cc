#include "services/ingotctl/verbs/machine.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/planning/cost_model_derive.h"
#include "core/planning/cost_model_file.h"
#include "core/planning/cost_model_measure.h"
#include "core/planning/limits.h"
#include "services/ingotctl/files.h"
#include "services/ingotctl/render/heat_map.h"
#include "services/ingotctl/render/machine.h"

namespace ingot {
namespace {

// On a terminal one line is overwritten; elsewhere a line is printed for each tenth.
void show_progress(int done, int all) {
  if (::isatty(STDERR_FILENO) == 1) {
    std::fprintf(stderr, "\rmeasured %d of %d pairs%s", done, all, done == all ? "\n" : "");
  } else if (done * 10 / all != (done - 1) * 10 / all) {
    std::fprintf(stderr, "measured %d of %d pairs\n", done, all);
  }
  std::fflush(stderr);
}

}  // namespace

absl::Status run_machine_measure(const MeasureArguments& arguments) {
  const absl::StatusOr<Topology> topology = this_machine();
  if (!topology.ok()) return topology.status();
  const auto measured = measure_machine(*topology, arguments.name, arguments.samples, show_progress);
  if (!measured.ok()) return measured.status();
  std::cout << write_machine(measured->model);
  std::fprintf(stderr, "spread between quartiles: %.0f%% of the median in the middle, %.0f%% at worst\n",
               100 * measured->spread_median, 100 * measured->spread_most);
  std::fputs(machine_table(measured->model).c_str(), stderr);
  const std::vector<std::string> suspicions = defects(measured->model);
  for (const std::string& suspicion : suspicions) std::fprintf(stderr, "suspicious: %s\n", suspicion.c_str());
  if (suspicions.empty()) std::fputs("round trips agree with the one-way costs\n", stderr);
  return absl::OkStatus();
}

absl::Status run_machine_derive(const DeriveArguments& arguments) {
  if (arguments.scc) {
    CostModel model = derive_scc();
    if (!arguments.name.empty()) model.name = arguments.name;
    std::cout << write_machine(model);
    return absl::OkStatus();
  }
  const absl::StatusOr<Topology> topology =
      arguments.topology.empty() ? this_machine() : synthetic_machine(arguments.topology);
  if (!topology.ok()) return topology.status();
  std::size_t threads = 0;
  for (const CoreInfo& core : topology->cores) threads += arguments.hyperthreads ? core.hardware_threads.size() : 1;
  if (threads < 2) return absl::FailedPreconditionError("a machine of one core has no messages; describe two at least");
  if (threads > static_cast<std::size_t>(kMachineCoresMax)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a machine has at most ", kMachineCoresMax, " cores here, not ", threads));
  }
  std::cout << write_machine(derive_machine(*topology, arguments.name.empty() ? "derived" : arguments.name,
                                            arguments.hyperthreads ? Threads::kAll : Threads::kOnePerCore));
  return absl::OkStatus();
}

absl::Status run_machine_show(const ShowArguments& arguments) {
  const absl::StatusOr<CostModel> model = read_file_as<CostModel>(arguments.file, read_machine);
  if (!model.ok()) return model.status();
  std::cout << (arguments.output == "svg"    ? heat_map(*model)
                : arguments.output == "json" ? machine_json(*model) + "\n"
                                             : machine_table(*model));
  return absl::OkStatus();
}

absl::Status run_machine_check(const CheckArguments& arguments) {
  const absl::StatusOr<CostModel> model = read_file_as<CostModel>(arguments.file, read_machine_draft);
  if (!model.ok()) return model.status();
  const std::vector<std::string> found = defects(*model);
  for (const std::string& defect : found) std::cout << defect << "\n";
  if (!found.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.file, ": ", found.size(), found.size() == 1 ? " defect" : " defects"));
  }
  std::cout << arguments.file << ": nothing wrong with its " << model->size() << " cores\n";
  return absl::OkStatus();
}

}  // namespace ingot
