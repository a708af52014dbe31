// A call that may last, or that has a stream of answers, and that has one request.
#pragma once

#include <string_view>
#include <utility>

#include <grpcpp/support/status.h>

#include "services/etcd/errors.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Reads the request, and begins once it is complete. No unary method of the server, since the handler of such a call is
// not told when its caller has gone.
template <typename Request>
class OneRequest : public rpc::StreamHandler {
 public:
  void message(std::string_view bytes) final {
    if (std::exchange(has_request_, true)) {
      return call_.finish({grpc::StatusCode::UNIMPLEMENTED, "grpc: a call of this method has one request message"});
    }
    if (!request_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) call_.finish(malformed_request());
  }
  void half_closed() final {
    has_request_ ? begin(std::move(request_)) : call_.finish(malformed_request());
  }

 protected:
  explicit OneRequest(const rpc::Call& call) : call_(call) {}

  const rpc::Call call_;

 private:
  virtual void begin(Request&& request) = 0;

  Request request_;
  bool has_request_ = false;
};

}  // namespace ingot::etcd
