// etcdserverpb.Watch on a loop. docs/etcd.md says what it does.
#pragma once

#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/methods.h"
#include "services/watch/hub.h"

namespace ingot::watch {

// Used by its loop's thread only.
class WatchMethods {
 public:
  // The arguments outlive this, and this outlives every answer of `client` and every call.
  WatchMethods(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics,
               WatchCounters& counters);

  void add_to(rpc::Methods& methods);

  // To be polled on the loop.
  Hub& hub() { return hub_; }
  // Ends all streams, in the words in which etcd says that its server stops.
  void drain();

 private:
  const etcd::HeaderSource header_;
  RequestMetrics& metrics_;
  Hub hub_;
};

}  // namespace ingot::watch
