// What the publisher of the instance's view shows of itself (replication/pages/view_page.h).
//
//   ingot_view_generation           number of the generation that readers read
//   ingot_view_revision             that its newest root shows; compare ingot_store_revision
//   ingot_view_keys                 in it
//   ingot_view_bytes                of its memory
//   ingot_view_live_bytes           of that, in use
//   ingot_view_full                 1: the keys need more than --view-bytes, and the view stays as it is
//   ingot_view_roots_total          states that were published
//   ingot_view_generations_total    generations that were begun
//   ingot_view_connections          on the view socket, now
//   ingot_view_tickets_total        connections that were given the view
//   ingot_view_refused_total        connections that were refused
//
// None of them is there before a publisher has run.
#pragma once

#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "replication/pages/view_page.h"

namespace ingot::inline services_metrics {

// Thread-safe.
class ViewCollectable final : public prometheus::Collectable {
 public:
  // The page outlives the object.
  explicit ViewCollectable(const ViewPage& page) : page_(page) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const ViewPage& page_;
};

}  // namespace ingot::services_metrics
