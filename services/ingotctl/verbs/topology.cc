#include "services/ingotctl/verbs/topology.h"

#include <iostream>

#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/topology.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

absl::Status run_topology(const CtlOptions& options) {
  const Connection connection(options);
  const auto stub = control_v1::Control::NewStub(connection.channel());
  control_v1::GetTopologyResponse response;
  const absl::Status status = connection.call(
      [&](grpc::ClientContext* context) { return stub->GetTopology(context, {}, &response); });
  if (!status.ok()) return status;
  if (options.json())
    std::cout << topology_json(response) << "\n";
  else
    std::cout << topology_table(response);
  return absl::OkStatus();
}

}  // namespace

void register_topology(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("topology", "Show the machine's cores and caches and what runs on which");
  command->footer("Example:\n  ingotctl topology");
  command->callback([&chosen] { chosen = run_topology; });
}

}  // namespace ingot::services_ingotctl_verbs
