// All metrics of an instance as one text, in Prometheus's format.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <prometheus/collectable.h>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/metrics/limits.h"
#include "services/metrics/request_metrics.h"

namespace ingot::inline services_metrics {

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";  // of the text

// Thread-safe.
class MetricsText {
 public:
  // Of the instance's pages, processes and requests. config, view and requests outlive the object. `more` is shown with
  // them.
  MetricsText(const DaemonConfig& config, const InstanceView& view, RequestMetrics& requests,
              std::vector<std::shared_ptr<prometheus::Collectable>> more = {});

  // As of now.
  std::string now() const;
  // At most `age` old: however often clients ask a loop, it reads the metrics no more often.
  std::string recent(std::chrono::milliseconds age = std::chrono::milliseconds(kMetricsTextAgeMs)) const;

 private:
  std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  mutable std::mutex mutex_;
  mutable std::string text_;                             // guarded by mutex_
  mutable std::chrono::steady_clock::time_point taken_;  // of text_; guarded by mutex_
};

}  // namespace ingot::services_metrics
