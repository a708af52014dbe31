// What hears of the end of a call.
#pragma once

#include <grpcpp/support/status.h>

#include <string_view>

namespace ingot::rpc::client {

// Outlives its calls, or cancels them. Called on the loop's thread, and never from within a function of the channel
// that the caller is in.
class Receiver {
 public:
  // The call is over. `message` is the serialised answer if the status is OK, and empty otherwise; it is valid until
  // this returns. May start and cancel calls, but not destroy the channel.
  virtual void answered(const grpc::Status& status, std::string_view message) = 0;

 protected:
  ~Receiver() = default;
};

}  // namespace ingot::rpc::client
