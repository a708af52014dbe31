#include "services/ingotctl/verbs/drill.h"

#include <chrono>
#include <iostream>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/drill.h"
#include "services/ingotctl/render/status.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

using control_v1::Control;
using control_v1::DrillRequest;
using control_v1::DrillResponse;

struct DrillArguments {
  std::string action;  // kill | stop | cont
  std::string target;  // leader | acceptor | both | replica=N | front-end | supervisor
  bool wait = false;
};

DrillRequest::Action action_of(const std::string& word) {
  if (word == "kill") return DrillRequest::ACTION_KILL;
  return word == "stop" ? DrillRequest::ACTION_STOP : DrillRequest::ACTION_CONT;
}

// A stopped front end sends no further answer, and a killed one ends the connection: for that target neither is an
// error.
bool says_no_more(const DrillRequest& request) { return request.target() == DrillRequest::TARGET_FRONT_END; }

// What the status says of a group that committed no write while a drill waited for one.
absl::Status explain_outage(const Connection& connection) {
  control_v1::GetStatusResponse status;
  const auto stub = Control::NewStub(connection.channel());
  const absl::Status asked = connection.call([&](grpc::ClientContext* context) {
    return stub->GetStatus(context, control_v1::GetStatusRequest(), &status);
  });
  std::string why = "the status names no cause: one shows after a second without a decision, and --timeout says how "
                    "long to wait";
  if (!asked.ok()) why = absl::StrCat("the status could not be asked: ", asked.message());
  if (status.has_blocked()) why = blocked_text(status.blocked(), status.blocked().details());
  return absl::DeadlineExceededError(absl::StrCat("no write was committed in that time; ", why));
}

absl::Status explain_silence(const Connection& connection, const DrillRequest& request, const grpc::Status& status) {
  absl::Status error = connection.explain(status);
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (late && request.wait()) return explain_outage(connection);
  if (late && request.action() == DrillRequest::ACTION_CONT && says_no_more(request)) {
    return absl::DeadlineExceededError(absl::StrCat(
        std::string(error.message()), "; a front end that is stopped cannot be asked: kill -CONT its pid"));
  }
  return error;
}

void print(const CtlOptions& options, const DrillArguments& arguments, const DrillResponse& told) {
  if (options.json()) {
    std::cout << drill_json(arguments.action, told) << std::endl;
  } else if (told.has_outage()) {
    std::cout << outage_line(told.outage()) << std::flush;
  } else {
    std::cout << drill_table(told) << std::flush;
  }
}

// Prints the targets and, with --wait, how long no write was committed. Never waits for a target.
absl::Status run_drill(const CtlOptions& options, const DrillArguments& arguments) {
  DrillRequest request = *parse_target(arguments.target);
  request.set_action(action_of(arguments.action));
  request.set_wait(arguments.wait);
  const Connection connection(options);
  const auto stub = Control::NewStub(connection.channel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + options.timeout);
  const auto reader = stub->Drill(&context, request);
  DrillResponse told;
  if (!reader->Read(&told)) return explain_silence(connection, request, reader->Finish());
  const bool more = arguments.wait;
  if (!options.json() || !more) print(options, arguments, told);
  if (says_no_more(request)) {
    context.TryCancel();
    return absl::OkStatus();
  }
  DrillResponse measured;
  if (reader->Read(&measured)) {
    *told.mutable_outage() = measured.outage();
  }
  if (more && (options.json() || told.has_outage())) print(options, arguments, told);
  const grpc::Status ended = reader->Finish();
  // An instance without its supervisor may end at once, and the connection with it.
  const bool taken_along = request.target() == DrillRequest::TARGET_SUPERVISOR && !more;
  if (taken_along && ended.error_code() == grpc::StatusCode::UNAVAILABLE) return absl::OkStatus();
  return explain_silence(connection, request, ended);
}

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

}  // namespace

std::optional<DrillRequest> parse_target(const std::string& text) {
  DrillRequest request;
  if (text == "leader") {
    request.set_target(DrillRequest::TARGET_LEADER);
  } else if (text == "acceptor") {
    request.set_target(DrillRequest::TARGET_ACCEPTOR);
  } else if (text == "both") {
    request.set_target(DrillRequest::TARGET_BOTH);
  } else if (text == "front-end") {
    request.set_target(DrillRequest::TARGET_FRONT_END);
  } else if (text == "supervisor") {
    request.set_target(DrillRequest::TARGET_SUPERVISOR);
  } else {
    absl::string_view number = text;
    std::uint32_t replica = 0;
    if (!absl::ConsumePrefix(&number, "replica=") || !absl::SimpleAtoi(number, &replica)) return std::nullopt;
    request.set_target(DrillRequest::TARGET_REPLICA);
    request.set_replica(replica);
  }
  return request;
}

void register_drill(CLI::App& app, Command& chosen) {
  CLI::App* drill = app.add_subcommand("drill", "Kill, stop or continue a process, to see how the others take it");
  drill->require_subcommand(1);
  drill->fallthrough();
  add_action(*drill, "kill", "Send SIGKILL; on the simulated chip, end the core", chosen);
  add_action(*drill, "stop", "Send SIGSTOP: it does nothing more until it is continued", chosen);
  add_action(*drill, "cont", "Send SIGCONT to what is stopped", chosen);
  drill->footer(
      "Roles mean who has them now; for cont, who had them when it was stopped. The answer says who was hit. Nothing "
      "waits\n"
      "for what is hit. A front end that is stopped cannot be asked any more: continue it with kill -CONT and its "
      "pid.\n"
      "Examples:\n"
      "  ingotctl drill kill leader --wait\n"
      "  ingotctl drill stop both; ingotctl status; ingotctl drill cont both");
}

}  // namespace ingot::services_ingotctl_verbs
