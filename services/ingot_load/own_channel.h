// A connection of its own for a stream.
#pragma once

#include <grpcpp/grpcpp.h>

#include <climits>
#include <memory>
#include <string>

namespace ingot::load {

// gRPC C++ would let channels to one server share a connection. Connects again soon when it was lost.
inline std::shared_ptr<grpc::Channel> own_channel(const std::string& endpoint) {
  constexpr int kAgainMs = 200;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kAgainMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kAgainMs);
  arguments.SetMaxReceiveMessageSize(INT_MAX);
  return grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace ingot::load
