// Answers calls of etcd's API that Ingot does not implement: UNIMPLEMENTED, with a sentence that says why.
#pragma once

#include <grpcpp/grpcpp.h>

#include "services/etcd/call.h"
#include "services/metrics/request_metrics.h"

namespace ingot::etcd {

inline grpc::ServerUnaryReactor* refuse(grpc::CallbackServerContext* context, RequestMetrics& metrics,
                                        const char* why) {
  return Call(context, metrics, Method::kOther).finish({grpc::StatusCode::UNIMPLEMENTED, why});
}

// A stream that ends as soon as it begins. Reactor is the server's reactor type of that call.
template <typename Reactor>
Reactor* refuse_stream(RequestMetrics& metrics, const char* why) {
  class Refusal final : public Reactor {
   public:
    explicit Refusal(const char* why) { this->Finish({grpc::StatusCode::UNIMPLEMENTED, why}); }
    void OnDone() override { delete this; }
  };
  RequestTimer(metrics, Method::kOther).finish(grpc::StatusCode::UNIMPLEMENTED);
  return new Refusal(why);
}

}  // namespace ingot::etcd
