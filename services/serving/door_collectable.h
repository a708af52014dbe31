// What the loops' servers count, as Prometheus metrics.
//
//   ingot_door_connections{loop}                    open connections
//   ingot_door_connections_accepted_total{loop}
//   ingot_door_connections_ended_total{loop,why}    by the server: flooding, stalled, silent, malformed
//   ingot_door_accepts_delayed_total{loop}          no descriptor, or too many connections
//   ingot_door_calls_begun_total{loop}
//   ingot_door_calls_ended_total{loop,how}          finished, cancelled, overdue, refused
//   ingot_door_calls_delayed_total{loop}            too many calls, or a reader that does not read
//   ingot_door_received_bytes_total{loop}, ingot_door_sent_bytes_total{loop}
//   ingot_door_reads_total{loop}, ingot_door_writes_total{loop}   system calls
//   ingot_door_passed_calls                         open calls that are passed on to gRPC C++
#pragma once

#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "services/rpc/passing/budget.h"
#include "services/rpc/server/counters.h"

namespace ingot::inline services_serving {

// Thread-safe.
class DoorCollectable final : public prometheus::Collectable {
 public:
  // By loop. What they point to, and `passed`, outlive the object.
  DoorCollectable(std::vector<const rpc::ServerCounters*> loops, const rpc::PassedCalls& passed)
      : loops_(std::move(loops)), passed_(passed) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::vector<const rpc::ServerCounters*> loops_;
  const rpc::PassedCalls& passed_;
};

}  // namespace ingot::services_serving
