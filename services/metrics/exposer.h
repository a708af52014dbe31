// What Prometheus scrapes: all metrics of an instance, by HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <prometheus/collectable.h>

#include "absl/status/statusor.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/metrics/http_server.h"
#include "services/metrics/request_metrics.h"

namespace ingot::inline services_metrics {

// Serves until it is destroyed. Thread-safe.
class MetricsExposer {
 public:
  // Serves all metrics of an instance at config.metrics_listen (HOST:PORT; port 0 lets the system choose): of its
  // pages, its processes and its requests. config, view and requests outlive the exposer. `more` is served with them.
  // Errors: those of HttpServer, in a sentence that names the flag.
  static absl::StatusOr<std::unique_ptr<MetricsExposer>> start(
      const DaemonConfig& config, const InstanceView& view, RequestMetrics& requests,
      std::vector<std::shared_ptr<prometheus::Collectable>> more = {}, HttpServerBounds bounds = {});

  // The bound port.
  int port() const { return server_->port(); }

 private:
  MetricsExposer() = default;

  std::string text() const;

  std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  std::unique_ptr<HttpServer> server_;  // last: it uses the collectables
};

}  // namespace ingot::services_metrics
