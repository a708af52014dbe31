#include "services/ingotctl/verbs/watch_status.h"

#include <google/protobuf/util/time_util.h>
#include <unistd.h>

#include <chrono>
#include <iostream>

#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/terminal.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/screen.h"
#include "services/ingotctl/render/status.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

struct WatchStatusArguments {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  int count = 0;  // end after this many tables or lines; 0: never
};

// The output so far, over all connections.
struct Shown {
  StatusScreen screen;
  int answers = 0;
};

// Prints answers until the stream ends, the requested number is reached, or standard output does not take one.
absl::Status follow_status(const CtlOptions& options, const WatchStatusArguments& arguments,
                           const Connection& connection, Shown& shown) {
  control_v1::WatchStatusRequest request;
  using google::protobuf::util::TimeUtil;
  *request.mutable_interval() = TimeUtil::NanosecondsToDuration(arguments.interval.count());
  grpc::ClientContext context;
  const auto stub = control_v1::Control::NewStub(connection.channel());
  const auto reader = stub->WatchStatus(&context, request);
  control_v1::GetStatusResponse response;
  while (reader->Read(&response)) {
    const Terminal terminal = terminal_at(STDOUT_FILENO);  // anew: a window changes its size
    if (terminal.redraws && !options.json())
      std::cout << shown.screen.draw(response, terminal, StatusScreen::Clock::now());
    else
      std::cout << (options.json() ? status_json(response, false) : status_line(response)) << "\n";
    const absl::Status printed = flush_output();
    if (++shown.answers == arguments.count || !printed.ok()) {
      context.TryCancel();
      return printed;
    }
  }
  return connection.explain(reader->Finish());
}

// On a terminal, redraws a table; elsewhere, prints a line (or an object) for each answer.
// If the front end dies during a watch, the watch goes on with its next incarnation. A daemon that has never answered
// is not waited for.
absl::Status run_watch_status(const CtlOptions& options, const WatchStatusArguments& arguments) {
  const Connection connection(options);
  Shown shown;
  while (true) {
    const int before = shown.answers;
    const absl::Status status = follow_status(options, arguments, connection, shown);
    if (!absl::IsUnavailable(status) || shown.answers == before) return status;
    if (!connection.channel()->WaitForConnected(std::chrono::system_clock::now() + options.timeout)) return status;
  }
}

}  // namespace

void register_watch_status(CLI::App& app, Command& chosen) {
  static WatchStatusArguments arguments;
  CLI::App* command =
      app.add_subcommand("watch-status", "Follow the status: each change at once, and progress at an interval");
  add_duration(*command, "--interval", arguments.interval, "The longest time from one table to the next");
  command->add_option("--count", arguments.count, "End after so many tables; 0: go on until interrupted")
      ->check(whole_number(0))
      ->capture_default_str()
      ->type_name("NUMBER");
  command->footer(
      "On a terminal the table is redrawn in place, with the latest events below. It fits the window: the less\n"
      "important columns are left out (ingotctl status has all of them), and many replicas are shown page by page.\n"
      "Where the output is no terminal, or TERM=dumb, a line takes the place of a table, or with -o json an object.\n"
      "NO_COLOR=1 leaves out bold and reverse video: a star then marks what has just changed.\n"
      "Examples:\n"
      "  ingotctl watch-status\n"
      "  ingotctl watch-status --count=3    # three tables: two seconds if nothing changes\n"
      "  ingotctl watch-status --interval=250ms -o json");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_watch_status(o, arguments); }; });
}

}  // namespace ingot::services_ingotctl_verbs
