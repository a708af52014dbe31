// What the loops' watches count, as Prometheus metrics.
//
//   ingot_watch_streams{loop}                    open streams
//   ingot_watches{loop}, ingot_watches_behind{loop}   that there are; of these, those that still read the past
//   ingot_watches_created_total{loop}, ingot_watches_refused_total{loop}
//   ingot_watches_canceled_total{loop,why}       by the server: compacted, too-wide
//   ingot_watch_streams_stalled_total{loop}      ended by the server
//   ingot_watch_responses_total{loop}, ingot_watch_events_total{loop}   sent to clients
//   ingot_watch_events_read_total{loop}          from replicas
//   ingot_watch_feed_queries_total{loop}, ingot_watch_pages_total{loop}   that replicas were asked
#pragma once

#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "services/watch/counters.h"

namespace ingot::inline services_serving {

// Thread-safe.
class WatchCollectable final : public prometheus::Collectable {
 public:
  // By loop. What they point to outlives the object.
  explicit WatchCollectable(std::vector<const watch::WatchCounters*> loops) : loops_(std::move(loops)) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::vector<const watch::WatchCounters*> loops_;
};

}  // namespace ingot::services_serving
