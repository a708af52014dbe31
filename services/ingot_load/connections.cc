#include "services/ingot_load/connections.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "absl/strings/str_cat.h"
#include "services/cli/duration.h"

namespace ingot::load {
namespace {

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else all channels would share one connection
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // a request must be sent once only
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  arguments.SetMaxReceiveMessageSize(-1);
  return arguments;
}

}  // namespace

absl::StatusOr<std::vector<Connection>> connect(const LoadOptions& options) {
  std::vector<Connection> connections(static_cast<std::size_t>(options.connections));
  for (Connection& connection : connections) {
    connection.channel =
        grpc::CreateCustomChannel(options.endpoint, grpc::InsecureChannelCredentials(), channel_arguments());
    connection.stub = etcdserverpb::KV::NewStub(connection.channel);
    connection.channel->GetState(true);
  }
  const auto deadline = std::chrono::system_clock::now() +
                        std::chrono::duration_cast<std::chrono::system_clock::duration>(options.timeout);
  for (const Connection& connection : connections) {
    if (connection.channel->WaitForConnected(deadline)) continue;
    return absl::UnavailableError(absl::StrCat("nothing answers on ", options.endpoint, " within ",
                                               format_duration(options.timeout),
                                               "; start ingotd, or name its address with --endpoint"));
  }
  return connections;
}

}  // namespace ingot::load
