// The gRPC server as Ingot sets it up; the benchmark's empty server is set up by the same function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "absl/status/statusor.h"

namespace ingot {

// Serves `services` (which outlive the server) on `address`, with gRPC health and reflection. Requests are up to
// kRequestBytesMax and a little, so that larger ones get etcd's own error; clients may ping every 5 s, as etcd allows.
// Errors: ALREADY_EXISTS if the address cannot be listened on.
absl::StatusOr<std::unique_ptr<grpc::Server>> start_grpc_server(const std::string& address,
                                                                const std::vector<grpc::Service*>& services);

}  // namespace ingot
