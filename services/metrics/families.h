// Builds prometheus-cpp's metric families.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

namespace ingot::inline services_metrics {

inline prometheus::MetricFamily gauge_family(std::string name, std::string help) {
  return {std::move(name), std::move(help), prometheus::MetricType::Gauge, {}};
}

inline prometheus::MetricFamily counter_family(std::string name, std::string help) {
  return {std::move(name), std::move(help), prometheus::MetricType::Counter, {}};
}

// REQUIRES: the family is a gauge or a counter.
inline void add_value(prometheus::MetricFamily& family, std::vector<prometheus::ClientMetric::Label> labels,
                      double value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  (family.type == prometheus::MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
  family.metric.push_back(std::move(metric));
}

}  // namespace ingot::services_metrics
