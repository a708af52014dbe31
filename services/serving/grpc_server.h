// The settings of Ingot's gRPC server, which the benchmark's empty server shares.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot {

// Serves `services` (which outlive the server) on `address`, with gRPC health and reflection. gRPC accepts requests of
// up to kGrpcReceiveBytesMax, which is more than kRequestBytesMax, so that the services can refuse a too large request
// with etcd's own error. A request that is no message of its method's type is refused as refused_calls.h says, and a
// method that no service has by `unknown_methods`, which outlives the server; null: gRPC refuses it without a text.
// Clients may ping every kPingIntervalMinMs. Errors: ALREADY_EXISTS if the address cannot be listened on.
absl::StatusOr<std::unique_ptr<grpc::Server>> start_grpc_server(
    const std::string& address, const std::vector<grpc::Service*>& services,
    grpc::CallbackGenericService* unknown_methods = nullptr);

// A server that listens nowhere itself: it takes connections that others have accepted.
struct FedGrpcServer {
  std::unique_ptr<grpc::Server> server;
  // Takes a connection. `owner`: the caller is the daemon's own user or root. Any thread, until the server is shut
  // down; later connections are closed.
  std::function<void(Descriptor connection, bool owner)> feed;
};

// As start_grpc_server, with clients' connections by `feed` alone. Errors: INTERNAL.
absl::StatusOr<FedGrpcServer> start_fed_grpc_server(const std::vector<grpc::Service*>& services,
                                                    grpc::CallbackGenericService* unknown_methods);

// Whether the call has come over a connection that was fed as the owner's. Thread-safe.
bool is_of_owner(const grpc::CallbackServerContext& context);

}  // namespace ingot
