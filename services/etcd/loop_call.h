// One unary call of etcd's API on a loop.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>

#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"

namespace ingot::etcd {

// A plain value, copied into the callback that ends the call. The call is counted when it begins and when it ends; one
// of the last three functions is called once, on one of the copies, also if the caller has gone.
class LoopCall {
 public:
  LoopCall(rpc::Call call, RequestMetrics& metrics, Method method)
      : call_(call), metrics_(&metrics), begun_(metrics.begin(method)) {}

  // False: the caller has gone, or its deadline is over.
  bool open() const { return call_.open(); }

  void answer(const google::protobuf::MessageLite& message) const {
    call_.send(message);
    finish(grpc::Status::OK);
  }
  // Of an encoded message, in pieces.
  void answer_pieces(std::vector<std::string> pieces) const {
    call_.send_pieces(std::move(pieces));
    finish(grpc::Status::OK);
  }
  void finish(const grpc::Status& status) const {
    metrics_->end(begun_, status.error_code());
    call_.finish(status);
  }

 private:
  rpc::Call call_;
  RequestMetrics* metrics_;
  RequestMetrics::Begun begun_;
};

}  // namespace ingot::etcd
