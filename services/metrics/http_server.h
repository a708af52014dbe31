// An HTTP/1 server of some texts, /metrics among them, to which no client can do harm: each connection is served by
// itself, for one request, with bounds for its time and bytes (limits.h).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/metrics/limits.h"
#include "services/rpc/server/http1.h"

namespace ingot::inline services_metrics {

struct HttpServerBounds {
  int connections = kMetricsConnectionsMax;
  std::chrono::milliseconds request_timeout{kMetricsRequestTimeoutMs};
  std::chrono::milliseconds answer_timeout{kMetricsAnswerTimeoutMs};
};

// Serves from a thread of its own until it is destroyed. Thread-safe.
class HttpServer {
 public:
  // Listens on `address` (HOST:PORT; port 0 lets the system choose). The server's thread asks
  // `answers`. Errors: INVALID_ARGUMENT (not an address), ALREADY_EXISTS (it cannot be listened on), RESOURCE_EXHAUSTED
  // (no thread), each with its cause.
  static absl::StatusOr<std::unique_ptr<HttpServer>> start(const std::string& address,
                                                           rpc::Http1Answers answers,
                                                           HttpServerBounds bounds = {});
  ~HttpServer();

  // The bound port.
  int port() const;

 private:
  class Listener;
  explicit HttpServer(std::unique_ptr<Listener> listener);

  std::unique_ptr<Listener> listener_;
};

}  // namespace ingot::services_metrics
