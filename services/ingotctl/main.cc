// ingotctl: the operator's tool. This file is its command line and nothing else.
#include <functional>

#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"
#include "services/config/daemon_config.h"
#include "services/ingotctl/verbs/verbs.h"
#include "services/ingotctl/verbs/drill_cli.h"
#include "services/ingotctl/verbs/planning_cli.h"
#include "services/ingotctl/verbs/scc.h"

namespace {

using namespace ingot;

using Command = std::function<absl::Status(const CtlOptions&)>;

void add_status(CLI::App& app, Command& chosen) {
  static StatusArguments arguments;
  CLI::App* command = app.add_subcommand("status", "Show the instance and every replica: state, role, progress");
  command->add_flag("--digest", arguments.digests, "Ask every replica for the digest of its state, too");
  command->footer(
      "Examples:\n"
      "  ingotctl status\n"
      "  ingotctl status -o json | jq '.replicas[] | select(.role == \"leader\") | .id'\n"
      "  ingotctl status --digest   # equal digests at equal slots: the replicas agree");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_status(o, arguments); }; });
}

void add_topology(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("topology", "Show the machine's cores and caches and what runs on which");
  command->footer("Example:\n  ingotctl topology");
  command->callback([&chosen] { chosen = run_topology; });
}

void add_watch_status(CLI::App& app, Command& chosen) {
  static WatchStatusArguments arguments;
  CLI::App* command =
      app.add_subcommand("watch-status", "Follow the status: each change at once, progress now and then");
  add_duration(*command, "--interval", arguments.interval, "Between two answers that tell of progress only");
  command->add_option("--count", arguments.count, "End after so many answers; 0: go on until interrupted")
      ->check(whole_number(0))
      ->capture_default_str()
      ->type_name("NUMBER");
  command->footer(
      "On a terminal the table is redrawn in place; elsewhere each answer is a line (with -o json, an object).\n"
      "Examples:\n"
      "  ingotctl watch-status\n"
      "  ingotctl watch-status --interval=250ms -o json");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_watch_status(o, arguments); }; });
}

void add_key_options(CLI::App& command, KeyArguments& keys) {
  command.add_option("KEY", keys.key, "The key, or where the range begins")->required()->type_name("");
  CLI::Option* prefix = command.add_flag("--prefix", keys.prefix, "All keys that begin with KEY");
  CLI::Option* from_key = command.add_flag("--from-key", keys.from_key, "KEY and all that sort after it");
  CLI::Option* range_end =
      command.add_option("--range-end", keys.range_end, "KEY and all before this one")->type_name("KEY");
  prefix->excludes(from_key)->excludes(range_end);
  from_key->excludes(range_end);
}

void add_get(CLI::App& app, Command& chosen) {
  static GetArguments arguments;
  CLI::App* command = app.add_subcommand("get", "Read keys");
  add_key_options(*command, arguments.keys);
  command->add_option("--limit", arguments.limit, "At most so many keys; 0: all")
      ->check(whole_number(0))
      ->type_name("NUMBER");
  command->add_option("--rev", arguments.revision, "As of this revision; 0: the newest")
      ->check(whole_number(0))
      ->type_name("REVISION");
  command->add_flag("--keys-only", arguments.keys_only, "Leave the values out");
  command->add_flag("--count-only", arguments.count_only, "Only say how many there are");
  command->add_flag("--serializable", arguments.serializable,
                    "Read the nearest replica's own state: faster, and perhaps not the newest");
  command->footer(
      "Examples:\n"
      "  ingotctl get greeting\n"
      "  ingotctl get config/ --prefix --limit=10\n"
      "  ingotctl get \"\" --from-key --count-only   # how many keys there are\n"
      "  ingotctl get greeting --rev=5 -o json");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_get(o, arguments); }; });
}

void add_put(CLI::App& app, Command& chosen) {
  static PutArguments arguments;
  CLI::App* command = app.add_subcommand("put", "Write a key");
  command->add_option("KEY", arguments.key, "The key")->required()->type_name("");
  command->add_option("VALUE", arguments.value, "The value; without one, all of standard input")->type_name("");
  command->add_flag("--prev-kv", arguments.prev_kv, "Also show what was there before");
  command->footer(
      "Examples:\n"
      "  ingotctl put greeting hello\n"
      "  ingotctl put config/site < site.json");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_put(o, arguments); }; });
}

void add_del(CLI::App& app, Command& chosen) {
  static DelArguments arguments;
  CLI::App* command = app.add_subcommand("del", "Delete keys");
  add_key_options(*command, arguments.keys);
  command->add_flag("--prev-kv", arguments.prev_kv, "Also show what was deleted");
  command->footer(
      "Examples:\n"
      "  ingotctl del greeting\n"
      "  ingotctl del config/ --prefix --prev-kv");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_del(o, arguments); }; });
}

void add_common(CLI::App& app, CtlOptions& options) {
  app.add_option("--endpoint", options.endpoint, "Where the daemon listens")
      ->check(host_port().description(""))
      ->envname("INGOT_ENDPOINT")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  app.add_option("-o,--output", options.output, "How to print: table or json")
      ->check(one_of({"table", "json"}).description(""))
      ->capture_default_str()
      ->type_name("FORM");
  add_duration(app, "--timeout", options.timeout, "How long to wait for one answer");
  app.set_version_flag("--version", std::string("ingotctl ") + kIngotVersion, "Print the version and leave");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Looks after an Ingot daemon, reads and writes its keys, and plans trees for machines.", "ingotctl");
  app.require_subcommand(1);
  app.fallthrough();  // so that --endpoint and -o may follow the command
  CtlOptions options;
  Command chosen;
  add_common(app, options);
  add_status(app, chosen);
  add_topology(app, chosen);
  add_watch_status(app, chosen);
  add_get(app, chosen);
  add_put(app, chosen);
  add_del(app, chosen);
  add_drill_commands(app, chosen);
  add_planning_commands(app, chosen);
  add_scc_commands(app, chosen);
  app.footer(
      "Exit code: 0 done; 1 the daemon said no or cannot be reached; 2 the command line is wrong.\n"
      "Each command explains itself: ingotctl get --help");
  return run_cli(app, argc, argv, [&] { return chosen(options); });
}
