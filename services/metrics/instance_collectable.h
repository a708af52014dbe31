// An instance's pages as Prometheus metrics.
//
//   ingot_build_info{version,name,agreement,transport,backend,isolation}  always 1
//   ingot_start_time_seconds                   when the instance started, with an empty state, since 1970
//   ingot_NAME{replica}                        every counter of kReplicaCounterSpecs but digest and blocked_since
//   ingot_replica_blocked_by{replica}          id of a replica that it waits for; -1: of none
//   ingot_supervision_refused_messages_total   messages of the processes that the supervisor refused
//   ingot_kept_segments, ingot_kept_segments_bytes   stable segments of ended incarnations that wait for a snapshot
//   ingot_supervisor_up, ingot_front_end_hangs_total   not on the simulated chip, which has neither process
//   ingot_blocked                              1 while agreement is blocked, as the status says
//   ingot_blocked_seconds                      how long agreement has been blocked; 0: it is not, or it is not known
//   ingot_replica_state{replica,state}         1 for the replica's present state, 0 for the others
//   ingot_replica_incarnation{replica}, ingot_replica_lag_slots{replica}, ingot_replica_core{replica}
//   ingot_batch_commands{replica}              histogram of commands per decided batch
//   ingot_link_sent_messages_total{from,to}, ingot_link_sent_bytes_total, ingot_link_received_messages_total and
//   ingot_link_received_bytes_total            links that carried anything; an end is a replica's id, "view", or
//                                              "front-end", or of its other loops "front-end-N"
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/metrics/page_snapshot.h"

namespace ingot::inline services_metrics {

// Counters never decrease while the object lives, even when replicas restart. Thread-safe.
class InstanceCollectable final : public prometheus::Collectable {
 public:
  // Both outlive the object.
  InstanceCollectable(const DaemonConfig& config, const InstanceView& view);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::vector<PageSnapshot> read_pages() const;

  const DaemonConfig& config_;
  const InstanceView& view_;
  mutable std::mutex mutex_;
  mutable std::vector<CounterResetAdjuster> adjusters_;  // guarded by mutex_; one for each replica
};

}  // namespace ingot::services_metrics
