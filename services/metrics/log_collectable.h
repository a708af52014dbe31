// Lines of the log that the instance's processes have lost (services/log/log.h).
//
//   ingot_log_lines_lost_total{process}   process as in process_collectable.h; continues across restarts,
//                                         but that of the front end, which begins at 0
#pragma once

#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_metrics {

// Thread-safe. To be used in the front end, which has no page: its own losses are those of the calling process.
class LogCollectable final : public prometheus::Collectable {
 public:
  // Both outlive the object.
  LogCollectable(const DaemonConfig& config, const InstanceView& view) : config_(config), view_(view) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const DaemonConfig& config_;
  const InstanceView& view_;
};

}  // namespace ingot::services_metrics
