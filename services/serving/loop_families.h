// Metrics of which each loop has a value: a table of a collectable says which counters they show.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

#include "core/counters.h"
#include "services/metrics/families.h"

namespace ingot::inline services_serving {

// One value a loop or, with a label, one for each of its cells.
template <typename Counters>
struct LoopFamily {
  prometheus::MetricFamily family;  // without values
  const char* label = nullptr;
  std::vector<std::pair<const char*, Counter Counters::*>> cells;  // each with its label's value
};

// The family with the values of `loops`, by loop.
template <typename Counters>
prometheus::MetricFamily family_of(const LoopFamily<Counters>& shown, const std::vector<const Counters*>& loops) {
  prometheus::MetricFamily family = shown.family;
  for (std::size_t loop = 0; loop < loops.size(); ++loop) {
    for (const auto& [value, cell] : shown.cells) {
      std::vector<prometheus::ClientMetric::Label> labels{{"loop", std::to_string(loop)}};
      if (shown.label != nullptr) labels.push_back({shown.label, value});
      add_value(family, std::move(labels), static_cast<double>((loops[loop]->*cell).get()));
    }
  }
  return family;
}

}  // namespace ingot::services_serving
