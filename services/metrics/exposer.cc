#include "services/metrics/exposer.h"

#include <iterator>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "absl/strings/str_cat.h"
#include "replication/pages/instance_view.h"
#include "services/metrics/instance_collectable.h"
#include "services/metrics/log_collectable.h"
#include "services/metrics/process_collectable.h"

namespace ingot::inline services_metrics {

absl::StatusOr<std::unique_ptr<MetricsExposer>> MetricsExposer::start(
    const DaemonConfig& config, const InstanceView& view, RequestMetrics& requests,
    std::vector<std::shared_ptr<prometheus::Collectable>> more, HttpServerBounds bounds) {
  std::unique_ptr<MetricsExposer> result(new MetricsExposer);
  result->collectables_ = {
      std::make_shared<InstanceCollectable>(config, view),
      std::make_shared<ProcessCollectable>(config, view),
      std::make_shared<LogCollectable>(config, view),
      std::shared_ptr<prometheus::Collectable>(&requests, [](prometheus::Collectable*) {}),  // not owned
  };
  for (auto& each : more) result->collectables_.push_back(std::move(each));
  auto server = HttpServer::start(config.metrics_listen, [exposer = result.get()] { return exposer->text(); }, bounds);
  if (!server.ok()) {
    return absl::Status(server.status().code(),
                        absl::StrCat("cannot serve metrics on ", config.metrics_listen, ": ", server.status().message(),
                                     "; give a free address of this machine as --metrics-listen"));
  }
  result->server_ = *std::move(server);
  return result;
}

std::string MetricsExposer::text() const {
  std::vector<prometheus::MetricFamily> all;
  for (const auto& collectable : collectables_) {
    auto families = collectable->Collect();
    all.insert(all.end(), std::make_move_iterator(families.begin()), std::make_move_iterator(families.end()));
  }
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace ingot::services_metrics
