#include "services/ingotctl/verbs/planning_cli.h"

#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/ingotctl/verbs/machine.h"
#include "services/ingotctl/verbs/plan.h"

namespace ingot {
namespace {

using Command = std::function<absl::Status(const CtlOptions&)>;

constexpr int kCoreIdMax = 65535;

void add_form(CLI::App& command, std::string& output, std::initializer_list<const char*> forms,
              const std::string& help) {
  command.add_option("-o,--output", output, help)
      ->check(one_of(forms).description(""))
      ->capture_default_str()
      ->type_name("FORM");
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

void add_show(CLI::App& machine, Command& chosen) {
  static ShowArguments arguments;
  CLI::App* command = machine.add_subcommand("show", "Show a machine file: costs by distance, asymmetry, a heat map");
  command->add_option("FILE,--machine", arguments.file, "The machine file")->required()->type_name("FILE");
  add_form(*command, arguments.output, {"table", "json", "svg"}, "How to print: table, json or svg (a heat map)");
  command->footer("Example:\n  ingotctl machine show machines/intel-scc-48.json -o svg > scc.svg");
  command->callback([&chosen] { chosen = [](const CtlOptions&) { return run_machine_show(arguments); }; });
}

void add_check(CLI::App& machine, Command& chosen) {
  static CheckArguments arguments;
  CLI::App* command =
      machine.add_subcommand("check", "Say what is wrong with a machine file, a sentence for each defect");
  command->add_option("FILE,--machine", arguments.file, "The machine file")->required()->type_name("FILE");
  command->footer("Exit code 2 if there is a defect.\nExample:\n  ingotctl machine check build-host.json");
  command->callback([&chosen] { chosen = [](const CtlOptions&) { return run_machine_check(arguments); }; });
}

void add_machine(CLI::App& app, Command& chosen) {
  CLI::App* machine = app.add_subcommand("machine", "Machine files: what messages between cores cost");
  machine->require_subcommand(1);
  machine->fallthrough();
  add_measure(*machine, chosen);
  add_derive(*machine, chosen);
  add_show(*machine, chosen);
  add_check(*machine, chosen);
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

void add_plan(CLI::App& app, Command& chosen) {
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

}  // namespace

void add_planning_commands(CLI::App& app, std::function<absl::Status(const CtlOptions&)>& chosen) {
  add_machine(app, chosen);
  add_plan(app, chosen);
}

}  // namespace ingot
