// The HTTP server that Prometheus scrapes: GET /metrics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include "absl/status/statusor.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/metrics/request_metrics.h"

namespace ingot {

// Serves until it is destroyed. Thread-safe.
class MetricsExposer {
 public:
  // Serves all metrics of an instance at config.metrics_listen (HOST:PORT; port 0 lets the system choose): of its
  // pages, its processes and its requests. config, view and requests outlive the exposer. `more` is served with them.
  // Errors: ALREADY_EXISTS, with a sentence, if the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsExposer>> start(
      const DaemonConfig& config, const InstanceView& view, RequestMetrics& requests,
      std::vector<std::shared_ptr<prometheus::Collectable>> more = {});

  // The bound port.
  int port() const;

 private:
  MetricsExposer() = default;

  std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;  // the exposer holds weak references
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace ingot
