// Servers of gRPC C++: the one inside a serving process, and the one that benchmarks compare with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/channel_arguments.h>

#include "absl/status/statusor.h"
#include "services/access/caller.h"

namespace ingot::inline services_serving {

// Serves `services` (which outlive the server) to this process alone, by grpc::Server::InProcessChannel, with gRPC
// health and reflection. A request that is no message of its method's type is refused as refused_calls.h says, and a
// method that no service has by `unknown_methods`, which outlives the server. Errors: INTERNAL.
absl::StatusOr<std::unique_ptr<grpc::Server>> start_inner_server(const std::vector<grpc::Service*>& services,
                                                                 grpc::CallbackGenericService& unknown_methods);

// The same on `address`, for clients of gRPC C++ itself, with the bounds that the loops' servers have: requests of up to
// kGrpcReceiveBytesMax, and pings every kPingIntervalMinMs (services/rpc/server/limits.h). Errors: ALREADY_EXISTS if
// the address cannot be listened on.
absl::StatusOr<std::unique_ptr<grpc::Server>> start_grpc_server(const std::string& address,
                                                                const std::vector<grpc::Service*>& services);

// For channels to the inner server: answers have no bound of gRPC's own.
grpc::ChannelArguments channel_arguments();

// Who has made a call of the inner server. A call that no loop has passed on comes from this process itself, which is
// told apart by an empty address and has no rights. Thread-safe.
Caller caller_of(const grpc::CallbackServerContext& context);

}  // namespace ingot::services_serving
