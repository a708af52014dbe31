#include <google/protobuf/util/time_util.h>
#include <unistd.h>

#include <chrono>
#include <iostream>

#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/ingotctl/verbs/verbs.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/screen.h"
#include "services/ingotctl/render/status.h"

namespace ingot {
namespace {

std::unique_ptr<control_v1::Control::Stub> control_stub(const Connection& connection) {
  return control_v1::Control::NewStub(connection.channel());
}

}  // namespace

absl::Status run_status(const CtlOptions& options, const StatusArguments& arguments) {
  const Connection connection(options);
  const auto stub = control_stub(connection);
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

absl::Status run_topology(const CtlOptions& options) {
  const Connection connection(options);
  const auto stub = control_stub(connection);
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

namespace {

// The output so far, over all connections.
struct Shown {
  StatusScreen screen;
  int answers = 0;
};

// Prints answers until the stream ends or the requested number is reached.
absl::Status follow_status(const CtlOptions& options, const WatchStatusArguments& arguments, const Connection& connection,
                           Shown& shown) {
  control_v1::WatchStatusRequest request;
  using google::protobuf::util::TimeUtil;
  *request.mutable_interval() = TimeUtil::NanosecondsToDuration(arguments.interval.count());
  grpc::ClientContext context;
  const auto stub = control_stub(connection);
  const auto reader = stub->WatchStatus(&context, request);
  const bool terminal = !options.json() && ::isatty(STDOUT_FILENO) == 1;
  control_v1::GetStatusResponse response;
  while (reader->Read(&response)) {
    if (terminal)
      std::cout << shown.screen.draw(response) << std::flush;
    else
      std::cout << (options.json() ? status_json(response, false) : status_line(response)) << std::endl;
    if (++shown.answers == arguments.count) {
      context.TryCancel();
      return absl::OkStatus();
    }
  }
  return connection.explain(reader->Finish());
}

}  // namespace

// The front end may die during a watch, and the watch goes on with its next incarnation; but a daemon that never
// answered is not waited for.
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

}  // namespace ingot
