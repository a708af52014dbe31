#include "services/serving/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "services/serving/limits.h"
#include "services/serving/refused_calls.h"

namespace ingot {

absl::StatusOr<std::unique_ptr<grpc::Server>> start_grpc_server(const std::string& address,
                                                                const std::vector<grpc::Service*>& services,
                                                                grpc::CallbackGenericService* unknown_methods) {
  // Debian's build of Abseil checks for deadlocks at every Mutex that gRPC locks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnectionMax);
  builder.SetMaxReceiveMessageSize(static_cast<int>(kGrpcReceiveBytesMax));
  builder.SetMaxSendMessageSize(-1);  // bounded by kRangeBytesMax, not by gRPC
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (unknown_methods != nullptr) builder.RegisterCallbackGenericService(unknown_methods);
  builder.experimental().SetInterceptorCreators(make_refusal_interceptors());
  auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::AlreadyExistsError(absl::StrCat(address, " cannot be listened on; choose another with --listen"));
  }
  return server;
}

}  // namespace ingot
