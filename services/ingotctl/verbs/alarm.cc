#include "services/ingotctl/verbs/alarm.h"

#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/ingotctl/connection.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

namespace pb = etcdserverpb;
using Stub = std::unique_ptr<pb::Maintenance::Stub>;

absl::Status ask(const Connection& connection, const Stub& stub, const pb::AlarmRequest& request,
                 pb::AlarmResponse& response) {
  return connection.call([&](grpc::ClientContext* context) { return stub->Alarm(context, request, &response); });
}

// {"alarms":["NOSPACE"]}, or a line for each.
void print_alarms(const pb::AlarmResponse& response, bool json, const std::string& what, const std::string& none) {
  auto names = nlohmann::ordered_json::array();
  std::string text;
  for (const pb::AlarmMember& alarm : response.alarms()) {
    names.push_back(pb::AlarmType_Name(alarm.alarm()));
    absl::StrAppend(&text, pb::AlarmType_Name(alarm.alarm()), what, "\n");
  }
  if (json)
    std::cout << nlohmann::ordered_json{{"alarms", names}}.dump() << "\n";
  else
    std::cout << (text.empty() ? none : text);
}

absl::Status run_list(const CtlOptions& options) {
  const Connection connection(options);
  pb::AlarmResponse response;
  const absl::Status status =
      ask(connection, pb::Maintenance::NewStub(connection.channel()), pb::AlarmRequest(), response);
  if (!status.ok()) return status;
  print_alarms(response, options.json(), ": puts are refused; make room by compaction, then disarm it", "no alarm\n");
  return absl::OkStatus();
}

// An alarm is disarmed by its name and member, as the list has them.
absl::Status run_disarm(const CtlOptions& options) {
  const Connection connection(options);
  const Stub stub = pb::Maintenance::NewStub(connection.channel());
  pb::AlarmResponse standing, disarmed;
  if (auto status = ask(connection, stub, pb::AlarmRequest(), standing); !status.ok()) return status;
  for (const pb::AlarmMember& alarm : standing.alarms()) {
    pb::AlarmRequest request;
    request.set_action(pb::AlarmRequest::DEACTIVATE);
    request.set_memberid(alarm.memberid());
    request.set_alarm(alarm.alarm());
    pb::AlarmResponse response;
    if (auto status = ask(connection, stub, request, response); !status.ok()) return status;
    disarmed.mutable_alarms()->MergeFrom(response.alarms());
  }
  print_alarms(disarmed, options.json(), ": disarmed", "no alarm to disarm\n");
  return absl::OkStatus();
}

}  // namespace

void register_alarm(CLI::App& app, Command& chosen) {
  CLI::App* alarm = app.add_subcommand("alarm", "List or disarm the alarm that is raised when the quota is reached");
  alarm->require_subcommand(1);
  alarm->add_subcommand("list", "Show which alarms stand")->callback([&chosen] { chosen = run_list; });
  alarm->add_subcommand("disarm", "Disarm them, so that puts are taken again")->callback([&chosen] {
    chosen = run_disarm;
  });
  alarm->footer(
      "Examples:\n"
      "  ingotctl alarm list\n"
      "  ingotctl alarm disarm   # after a compaction, or deletes and a compaction, have made room");
}

}  // namespace ingot::services_ingotctl_verbs
