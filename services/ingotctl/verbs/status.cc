#include "services/ingotctl/verbs/status.h"

#include <iostream>

#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/status.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

struct StatusArguments {
  bool digests = false;
};

absl::Status run_status(const CtlOptions& options, const StatusArguments& arguments) {
  const Connection connection(options);
  const auto stub = control_v1::Control::NewStub(connection.channel());
  control_v1::GetStatusRequest request;
  request.set_digests(arguments.digests);
  control_v1::GetStatusResponse response;
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->GetStatus(context, request, &response); });
  if (!status.ok()) return status;
  if (options.json())
    std::cout << status_json(response, arguments.digests) << "\n";
  else
    std::cout << status_table(response, arguments.digests);
  return absl::OkStatus();
}

}  // namespace

void register_status(CLI::App& app, Command& chosen) {
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

}  // namespace ingot::services_ingotctl_verbs
