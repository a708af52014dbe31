#include "services/metrics/metrics_text.h"

#include <iterator>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "services/metrics/instance_collectable.h"
#include "services/metrics/log_collectable.h"
#include "services/metrics/process_collectable.h"

namespace ingot::inline services_metrics {

MetricsText::MetricsText(const DaemonConfig& config, const InstanceView& view, RequestMetrics& requests,
                         std::vector<std::shared_ptr<prometheus::Collectable>> more) {
  collectables_ = {
      std::make_shared<InstanceCollectable>(config, view),
      std::make_shared<ProcessCollectable>(config, view),
      std::make_shared<LogCollectable>(config, view),
      std::shared_ptr<prometheus::Collectable>(&requests, [](prometheus::Collectable*) {}),  // not owned
  };
  for (auto& each : more) collectables_.push_back(std::move(each));
}

std::string MetricsText::now() const {
  std::vector<prometheus::MetricFamily> all;
  for (const auto& collectable : collectables_) {
    auto families = collectable->Collect();
    all.insert(all.end(), std::make_move_iterator(families.begin()), std::make_move_iterator(families.end()));
  }
  return prometheus::TextSerializer().Serialize(all);
}

std::string MetricsText::recent(std::chrono::milliseconds age) const {
  const std::lock_guard lock(mutex_);
  const auto time = std::chrono::steady_clock::now();
  if (text_.empty() || time - taken_ > age) {
    text_ = now();
    taken_ = time;
  }
  return text_;
}

}  // namespace ingot::services_metrics
