// ingotctl: the operator's tool. This file builds its command line from the verbs.
#include <string>

#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"
#include "services/config/daemon_config.h"
#include "services/ingotctl/held_command.h"
#include "services/ingotctl/verbs/alarm.h"
#include "services/ingotctl/verbs/drill.h"
#include "services/ingotctl/verbs/elect.h"
#include "services/ingotctl/verbs/kv.h"
#include "services/ingotctl/verbs/lease.h"
#include "services/ingotctl/verbs/lock.h"
#include "services/ingotctl/verbs/machine.h"
#include "services/ingotctl/verbs/move.h"
#include "services/ingotctl/verbs/plan.h"
#include "services/ingotctl/verbs/scc.h"
#include "services/ingotctl/verbs/snapshot.h"
#include "services/ingotctl/verbs/status.h"
#include "services/ingotctl/verbs/topology.h"
#include "services/ingotctl/verbs/view.h"
#include "services/ingotctl/verbs/watch.h"
#include "services/ingotctl/verbs/watch_status.h"

namespace {

using namespace ingot;

void add_common(CLI::App& app, CtlOptions& options) {
  add_endpoint(app, options.endpoint);
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
  register_status(app, chosen);
  register_topology(app, chosen);
  register_watch_status(app, chosen);
  register_kv(app, chosen);
  register_view(app, chosen);
  register_watch(app, chosen);
  register_lease(app, chosen);
  register_lock(app, chosen);
  register_elect(app, chosen);
  register_alarm(app, chosen);
  register_snapshot(app, chosen);
  register_drill(app, chosen);
  register_move(app, chosen);
  register_machine(app, chosen);
  register_plan(app, chosen);
  register_scc(app, chosen);
  app.footer(
      "A daemon at a loopback address is called by way of its Unix socket, if this user may connect to it: only there\n"
      "does it take drills and moves. Sockets are looked for at $INGOT_SOCKET (empty: nowhere), in /run/ingot and in\n"
      "$XDG_RUNTIME_DIR/ingot, and at the path that the daemon names; --endpoint=unix:PATH names one.\n"
      "Exit code: 0 done; 1 the daemon said no or cannot be reached; 2 the command line is wrong. That of a command\n"
      "that lock has run is its own.\n"
      "Each command explains itself: ingotctl get --help");
  const int code = run_cli(app, argc, argv, [&] { return chosen(options); });
  return code != kExitOk ? code : held_exit_code();
}
