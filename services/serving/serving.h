// The services of an instance on any backend: etcd's services and the control plane over gRPC, and the metrics. Both
// the front end's process and the simulated chip's daemon use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <prometheus/collectable.h>

#include "absl/status/status.h"
#include "replication/client/posted_client.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/access/access_rules.h"
#include "services/backup/held_snapshot.h"
#include "services/config/daemon_config.h"
#include "services/control/control_service.h"
#include "services/control/fault_injector.h"
#include "services/etcd/snapshot_calls.h"
#include "services/metrics/exposer.h"
#include "services/metrics/metrics_text.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/passing/budget.h"
#include "services/serving/serving_loop.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_serving {

// Clients' connections that all loops together may have, in a process that may open `limit` files and has `open` of
// them open. The rest is for the process itself: without it a front end whose clients hold all files could not be
// told of a replica's next incarnation.
int connections_max(std::uint64_t limit, std::uint64_t open);

// Sockets that listen, non-blocking, for all loops. Either may be invalid: there is none.
struct ListeningSockets {
  Descriptor tcp;
  Descriptor local;  // the Unix socket
};

// Each connection is on one loop. The loop serves the services of docs/architecture.md's table itself, and passes all
// other calls on to a gRPC C++ server in this process, which listens nowhere.
//
// Made, started and destroyed by one thread.
class Serving {
 public:
  // A loop, and the client of the replicas that its calls use, on its thread.
  struct Served {
    ServingLoop& loop;
    ReplicaClient& client;
  };
  // The arguments outlive the object; it is destroyed when no loop runs any more. `injector` carries out the faults of
  // drills; null: signals to processes. services/access decides which callers may drill. REQUIRES: there is a loop.
  // `snapshots`: what the process has of the instance's snapshots, for backups; null: it has none. `trees`: they hold
  // trees, too.
  Serving(const DaemonConfig& config, const InstanceView& view, std::vector<Served> loops,
          FaultInjector* injector = nullptr, const NewestSnapshot* snapshots = nullptr, bool trees = false);
  ~Serving();

  // The metrics in which every service records its calls.
  RequestMetrics& metrics() { return metrics_; }

  // Adds a service or metrics of one backend only. REQUIRES: start() was not called.
  void add(std::unique_ptr<grpc::Service> service);
  void add(std::shared_ptr<prometheus::Collectable> metrics);

  // Serves on the sockets as soon as the loops run, and the metrics there and on config.metrics_listen unless that is
  // empty.
  // To be called before the loops run. Errors: ALREADY_EXISTS if that one cannot be listened on, RESOURCE_EXHAUSTED.
  absl::Status start(const ListeningSockets& sockets);

  // The Unix socket has been bound anew. Any thread. REQUIRES: start() has succeeded. Errors: RESOURCE_EXHAUSTED (no
  // loop has a descriptor left for it).
  absl::Status listen_local(const Descriptor& local);

  // Ends the control plane's watches, lets running calls finish within kDrainTimeoutMs / 2, and refuses new ones.
  // Blocks while the loops run: not to be called from a thread that answers calls. REQUIRES: start() has succeeded.
  void drain();

 private:
  absl::Status start_server();
  absl::Status listen(ServingLoop& loop, const ListeningSockets& sockets);
  bool wait_drained(std::chrono::milliseconds longest) const;

  const DaemonConfig& config_;
  const InstanceView& view_;
  const std::vector<Served> loops_;
  const AccessRules rules_;
  rpc::PassedCalls passed_calls_;
  etcd::SnapshotPlaces snapshots_;
  RequestMetrics metrics_;
  std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  std::optional<MetricsText> metrics_text_;  // once it is served
  rpc::Http1Answers http1_;                   // of the clients' port
  std::unique_ptr<MetricsExposer> exposer_;
  PostedClient client_;  // of the services, which gRPC's threads call
  std::unique_ptr<ControlService> control_;
  std::vector<std::unique_ptr<grpc::Service>> services_;  // all but control_
  const std::unique_ptr<grpc::CallbackGenericService> unknown_methods_;
  std::unique_ptr<grpc::Server> server_;  // last: it uses all of the above
};

}  // namespace ingot::services_serving
