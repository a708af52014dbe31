#include "services/serving/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "proto/grpc/health.pb.h"
#include "services/access/caller_codec.h"
#include "services/rpc/server/limits.h"
#include "services/serving/refused_calls.h"

namespace ingot::inline services_serving {

namespace {

void prepare(grpc::ServerBuilder& builder, const std::vector<grpc::Service*>& services) {
  // Debian's build of Abseil checks for deadlocks at every Mutex that gRPC locks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  builder.SetMaxReceiveMessageSize(static_cast<int>(rpc::kGrpcReceiveBytesMax));
  builder.SetMaxSendMessageSize(-1);  // bounded by the services, not by gRPC
  for (grpc::Service* service : services) builder.RegisterService(service);
  builder.experimental().SetInterceptorCreators(make_refusal_interceptors());
}

void add_health_and_reflection() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::health::v1::HealthCheckRequest::descriptor();  // links the definition, which reflection describes
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
}

}  // namespace

absl::StatusOr<std::unique_ptr<grpc::Server>> start_inner_server(const std::vector<grpc::Service*>& services,
                                                                 grpc::CallbackGenericService& unknown_methods) {
  add_health_and_reflection();
  grpc::ServerBuilder builder;
  prepare(builder, services);
  builder.RegisterCallbackGenericService(&unknown_methods);
  auto server = builder.BuildAndStart();
  if (server == nullptr) return absl::InternalError("gRPC does not start a server");
  return server;
}

absl::StatusOr<std::unique_ptr<grpc::Server>> start_grpc_server(const std::string& address,
                                                                const std::vector<grpc::Service*>& services) {
  add_health_and_reflection();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, rpc::kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, rpc::kStreamsPerConnectionMax);
  prepare(builder, services);
  auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::AlreadyExistsError(absl::StrCat(address, " cannot be listened on; choose another with --listen"));
  }
  return server;
}

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return arguments;
}

Caller caller_of(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kCallerKey);
  if (found == metadata.end()) return {};
  return decode_caller({found->second.data(), found->second.size()}).value_or(Caller{});
}

}  // namespace ingot::services_serving
