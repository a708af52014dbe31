#include "services/ingotctl/verbs/drill_cli.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/limits.h"
#include "services/cli/cli.h"
#include "services/ingotctl/verbs/drill.h"

namespace ingot {
namespace {

using Command = std::function<absl::Status(const CtlOptions&)>;

CLI::Validator drill_target() {
  const auto check = [](const std::string& given) -> std::string {
    if (parse_target(given)) return "";
    return absl::StrCat("'", given, "' is no target; use leader, acceptor, both, replica=N, front-end or supervisor");
  };
  return CLI::Validator(check, "");
}

void add_action(CLI::App& drill, const std::string& action, const std::string& help, Command& chosen) {
  static std::map<std::string, DrillArguments> all;
  DrillArguments& arguments = all[action];
  arguments.action = action;
  CLI::App* command = drill.add_subcommand(action, help);
  command->add_option("TARGET", arguments.target, "leader, acceptor, both, replica=N, front-end or supervisor")
      ->required()
      ->check(drill_target())
      ->type_name("");
  command->add_flag("--wait", arguments.wait, "Measure for how long no write is committed, at most --timeout");
  command->footer(absl::StrCat("Examples:\n  ingotctl drill ", action, " leader --wait\n  ingotctl drill ", action,
                               " replica=2 -o json"));
  command->callback([&chosen, &arguments] {
    chosen = [&arguments](const CtlOptions& options) { return run_drill(options, arguments); };
  });
}

void add_drill(CLI::App& app, Command& chosen) {
  CLI::App* drill = app.add_subcommand("drill", "Kill, stop or continue a process, to see how the others take it");
  drill->require_subcommand(1);
  drill->fallthrough();
  add_action(*drill, "kill", "Send SIGKILL; on the simulated chip, end the core", chosen);
  add_action(*drill, "stop", "Send SIGSTOP: it does nothing more until it is continued", chosen);
  add_action(*drill, "cont", "Send SIGCONT to what is stopped", chosen);
  drill->footer(
      "Roles mean who has them now; for cont, who had them when it was stopped. The answer says who was hit. Nothing waits\n"
      "for what is hit. A front end that is stopped cannot be asked any more: continue it with kill -CONT and its pid.\n"
      "Examples:\n"
      "  ingotctl drill kill leader --wait\n"
      "  ingotctl drill stop both; ingotctl status; ingotctl drill cont both");
}

void add_move(CLI::App& app, Command& chosen) {
  static MoveArguments arguments;
  CLI::App* command = app.add_subcommand("move", "Move the leader's or the acceptor's role to another voter");
  command->add_option("ROLE", arguments.role, "leader or acceptor")
      ->required()
      ->check(one_of({"leader", "acceptor"}).description(""))
      ->type_name("");
  command->add_option("--to", arguments.to, "The voter that gets it")
      ->required()
      ->check(whole_number(0, kReplicasMax - 1))
      ->type_name("REPLICA");
  command->add_flag("!--no-wait", arguments.wait, "Do not wait until it is done");
  command->footer(
      "Waits, at most --timeout, and says who has the role in the end. Refused with the reason where it cannot be.\n"
      "Examples:\n"
      "  ingotctl move leader --to=2\n"
      "  ingotctl move acceptor --to=0 --no-wait");
  command->callback([&chosen] { chosen = [](const CtlOptions& options) { return run_move(options, arguments); }; });
}

}  // namespace

void add_drill_commands(CLI::App& app, std::function<absl::Status(const CtlOptions&)>& chosen) {
  add_drill(app, chosen);
  add_move(app, chosen);
}

}  // namespace ingot
