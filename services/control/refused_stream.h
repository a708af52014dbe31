// A server stream that ends at once with an error.
#pragma once

#include <grpcpp/grpcpp.h>

#include "services/metrics/request_metrics.h"

namespace ingot::inline services_control {

// Deletes itself when gRPC has finished with it.
template <typename Response>
class RefusedStream final : public grpc::ServerWriteReactor<Response> {
 public:
  RefusedStream(RequestMetrics& metrics, Method method, const grpc::Status& status) {
    RequestTimer(metrics, method).finish(status.error_code());
    this->Finish(status);
  }
  void OnDone() override { delete this; }
};

}  // namespace ingot::services_control
