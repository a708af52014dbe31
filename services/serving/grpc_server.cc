#include "services/serving/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "services/serving/limits.h"
#include "services/serving/refused_calls.h"

namespace ingot {

namespace {

using ConnectionType = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
using Feeder = std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor>;

// Of connections that were fed as the owner's: of all server credentials that change nothing on the wire, these alone
// leave a mark on a call.
constexpr const char* kMark = "transport_security_type";
constexpr const char* kOwnersMark = "local";

void prepare(grpc::ServerBuilder& builder, const std::vector<grpc::Service*>& services,
             grpc::CallbackGenericService* unknown_methods) {
  // Debian's build of Abseil checks for deadlocks at every Mutex that gRPC locks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  grpc::EnableDefaultHealthCheckService(true);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnectionMax);
  builder.SetMaxReceiveMessageSize(static_cast<int>(kGrpcReceiveBytesMax));
  builder.SetMaxSendMessageSize(-1);  // bounded by kRangeBytesMax, not by gRPC
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (unknown_methods != nullptr) builder.RegisterCallbackGenericService(unknown_methods);
  builder.experimental().SetInterceptorCreators(make_refusal_interceptors());
}

}  // namespace

absl::StatusOr<std::unique_ptr<grpc::Server>> start_grpc_server(const std::string& address,
                                                                const std::vector<grpc::Service*>& services,
                                                                grpc::CallbackGenericService* unknown_methods) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  prepare(builder, services, unknown_methods);
  auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::AlreadyExistsError(absl::StrCat(address, " cannot be listened on; choose another with --listen"));
  }
  return server;
}

absl::StatusOr<FedGrpcServer> start_fed_grpc_server(const std::vector<grpc::Service*>& services,
                                                    grpc::CallbackGenericService* unknown_methods) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  const Feeder everyone =
      builder.experimental().AddExternalConnectionAcceptor(ConnectionType::FROM_FD, grpc::InsecureServerCredentials());
  const Feeder owner = builder.experimental().AddExternalConnectionAcceptor(
      ConnectionType::FROM_FD, grpc::experimental::LocalServerCredentials(UDS));
  prepare(builder, services, unknown_methods);
  FedGrpcServer fed{builder.BuildAndStart(), {}};
  if (fed.server == nullptr) return absl::InternalError("gRPC does not start a server");
  fed.feed = [everyone, owner](Descriptor connection, bool of_owner) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection.release();
    (of_owner ? owner : everyone)->HandleNewConnection(&parameters);
  };
  return fed;
}

bool is_of_owner(const grpc::CallbackServerContext& context) {
  const auto marks = context.auth_context()->FindPropertyValues(kMark);
  return marks.size() == 1 && marks[0] == kOwnersMark;
}

}  // namespace ingot
