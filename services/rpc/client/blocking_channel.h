// A channel on a loop of its own, for programs that wait for each answer.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <memory>
#include <string>

#include "services/rpc/client/channel.h"

namespace ingot::rpc::client {

// One call at a time. Not thread-safe. Between calls it answers no pings and notices no loss.
class BlockingChannel {
 public:
  explicit BlockingChannel(Target target, ChannelOptions options = {});
  ~BlockingChannel();

  // Waits until it is connected. False: the time is over.
  bool connect(std::chrono::nanoseconds timeout);

  // Calls, and waits for the answer. INTERNAL: the answer is no `reply`.
  grpc::Status call(const std::string& path, const google::protobuf::MessageLite& request,
                    google::protobuf::MessageLite& reply, const Channel::CallOptions& options);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ingot::rpc::client
