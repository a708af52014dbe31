// What an instance counts, by the names of etcd's metrics, for dashboards and alerts that were written for etcd.
// docs/etcd.md says what each means here, and which ones are left out.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/metrics/page_snapshot.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/counters.h"
#include "services/watch/counters.h"

namespace ingot::inline services_serving {

// Thread-safe. Counters never decrease while the object lives, even when replicas restart.
class EtcdCollectable final : public prometheus::Collectable {
 public:
  // By the front end. All of it outlives the object.
  struct Counted {
    const RequestMetrics& requests;
    std::vector<const rpc::ServerCounters*> servers;  // by loop
    std::vector<const watch::WatchCounters*> watches;
  };

  // Both outlive the object.
  EtcdCollectable(const DaemonConfig& config, const InstanceView& view, Counted counted)
      : config_(config), view_(view), counted_(std::move(counted)), adjusters_(view.replicas.size()) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  class Pages;
  Pages read_pages() const;
  void add_server(const Pages& pages, std::vector<prometheus::MetricFamily>& families) const;
  void add_store(const Pages& pages, std::vector<prometheus::MetricFamily>& families) const;
  void add_loops(std::vector<prometheus::MetricFamily>& families) const;
  void add_grpc(std::vector<prometheus::MetricFamily>& families) const;

  const DaemonConfig& config_;
  const InstanceView& view_;
  const Counted counted_;
  mutable std::mutex mutex_;
  mutable std::vector<CounterResetAdjuster> adjusters_;  // guarded by mutex_; one for each replica
};

}  // namespace ingot::services_serving
