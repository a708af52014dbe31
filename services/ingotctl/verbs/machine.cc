#include "services/ingotctl/verbs/machine.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/planning/cost_model_derive.h"
#include "core/planning/cost_model_file.h"
#include "core/planning/cost_model_measure.h"
#include "core/planning/limits.h"
#include "services/cli/cli.h"
#include "services/ingotctl/files.h"
#include "services/ingotctl/render/heat_map.h"
#include "services/ingotctl/render/machine.h"

namespace ingot::inline services_ingotctl_verbs {
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

struct MeasureArguments {
  int samples = 2000;
  std::string name = "this-machine";
};

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

void add_measure(CLI::App& machine, Command& chosen) {
  static MeasureArguments arguments;
  CLI::App* command = machine.add_subcommand("measure", "Measure what messages between this machine's cores cost");
  command->add_option("--samples", arguments.samples, "Batches of each kind, for each pair of cores")
      ->check(whole_number(10, 1'000'000))
      ->capture_default_str()
      ->type_name("NUMBER");
  command->add_option("--name", arguments.name, "The machine's name in the file")
      ->capture_default_str()
      ->type_name("NAME");
  command->footer(
      "The machine file goes to standard output, progress and a summary to standard error. Close what else runs.\n"
      "Example:\n"
      "  ingotctl machine measure --name=build-host > build-host.json");
  command->callback([&chosen] { chosen = [](const CtlOptions&) { return run_machine_measure(arguments); }; });
}

struct DeriveArguments {
  std::string topology;  // hwloc's notation; empty: this machine
  bool hyperthreads = false;
  bool scc = false;
  std::string name;  // empty: "derived", or the SCC's own
};

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

void add_derive(CLI::App& machine, Command& chosen) {
  static DeriveArguments arguments;
  CLI::App* command = machine.add_subcommand("derive", "Derive costs from a machine's topology alone");
  CLI::Option* topology =
      command->add_option("--topology", arguments.topology, "A machine in hwloc's notation; without it, this one");
  topology->type_name("TEXT");
  CLI::Option* threads = command->add_flag("--hyperthreads", arguments.hyperthreads, "Hyperthreads count as cores");
  command->add_flag("--scc", arguments.scc, "The Intel SCC's 48 cores")->excludes(topology)->excludes(threads);
  command->add_option("--name", arguments.name, "The machine's name in the file")->type_name("NAME");
  command->footer(
      "Examples:\n"
      "  ingotctl machine derive > here.json\n"
      "  ingotctl machine derive --topology=\"package:2 l3:1 core:10 pu:2\" --hyperthreads --name=two-sockets");
  command->callback([&chosen] { chosen = [](const CtlOptions&) { return run_machine_derive(arguments); }; });
}

struct ShowArguments {
  std::string file;
  std::string output = "table";  // table | json | svg
};

absl::Status run_machine_show(const ShowArguments& arguments) {
  const absl::StatusOr<CostModel> model = read_file_as<CostModel>(arguments.file, read_machine);
  if (!model.ok()) return model.status();
  std::cout << (arguments.output == "svg"    ? heat_map(*model)
                : arguments.output == "json" ? machine_json(*model) + "\n"
                                             : machine_table(*model));
  return absl::OkStatus();
}

void add_show(CLI::App& machine, Command& chosen) {
  static ShowArguments arguments;
  CLI::App* command = machine.add_subcommand("show", "Show a machine file: costs by distance, asymmetry, a heat map");
  command->add_option("FILE,--machine", arguments.file, "The machine file")->required()->type_name("FILE");
  add_form(*command, arguments.output, {"table", "json", "svg"}, "How to print: table, json or svg (a heat map)");
  command->footer("Example:\n  ingotctl machine show machines/intel-scc-48.json -o svg > scc.svg");
  command->callback([&chosen] { chosen = [](const CtlOptions&) { return run_machine_show(arguments); }; });
}

struct CheckArguments {
  std::string file;
};

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

void add_check(CLI::App& machine, Command& chosen) {
  static CheckArguments arguments;
  CLI::App* command =
      machine.add_subcommand("check", "Say what is wrong with a machine file, a sentence for each defect");
  command->add_option("FILE,--machine", arguments.file, "The machine file")->required()->type_name("FILE");
  command->footer("Exit code 2 if there is a defect.\nExample:\n  ingotctl machine check build-host.json");
  command->callback([&chosen] { chosen = [](const CtlOptions&) { return run_machine_check(arguments); }; });
}

}  // namespace

void register_machine(CLI::App& app, Command& chosen) {
  CLI::App* machine = app.add_subcommand("machine", "Machine files: what messages between cores cost");
  machine->require_subcommand(1);
  machine->fallthrough();
  add_measure(*machine, chosen);
  add_derive(*machine, chosen);
  add_show(*machine, chosen);
  add_check(*machine, chosen);
}

}  // namespace ingot::services_ingotctl_verbs
