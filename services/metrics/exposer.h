// What Prometheus scrapes: all metrics of an instance, by HTTP on a port of their own.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/metrics/http_server.h"
#include "services/metrics/metrics_text.h"

namespace ingot::inline services_metrics {

// Serves until it is destroyed. Thread-safe.
class MetricsExposer {
 public:
  // Serves GET /metrics at `address` (--metrics-listen: HOST:PORT; port 0 lets the system choose), and `others` beside
  // it. `metrics` outlives the exposer. Errors: those of HttpServer, in a sentence that names the flag.
  static absl::StatusOr<std::unique_ptr<MetricsExposer>> start(const std::string& address, const MetricsText& metrics,
                                                               rpc::Http1Answers others = {},
                                                               HttpServerBounds bounds = {});

  // The bound port.
  int port() const { return server_->port(); }

 private:
  explicit MetricsExposer(std::unique_ptr<HttpServer> server) : server_(std::move(server)) {}

  std::unique_ptr<HttpServer> server_;
};

}  // namespace ingot::services_metrics
