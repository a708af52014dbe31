// The services of an instance on any backend: etcd's services and the control plane over gRPC, and the metrics. Both
// the front end's process and the simulated chip's daemon use it.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <prometheus/collectable.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/access/access_rules.h"
#include "services/config/daemon_config.h"
#include "services/control/control_service.h"
#include "services/control/fault_injector.h"
#include "services/metrics/exposer.h"
#include "services/metrics/request_metrics.h"
#include "services/serving/connection_acceptor.h"

namespace ingot {

// Made, started and destroyed by one thread.
class Serving {
 public:
  // The arguments outlive the object. `injector` carries out the faults of drills; null: signals to processes. Who may
  // ask for them: services/access.
  Serving(const DaemonConfig& config, const InstanceView& view, ReplicaClient& client,
          FaultInjector* injector = nullptr);

  // The metrics in which every service records its calls.
  RequestMetrics& metrics() { return metrics_; }

  // Adds a service or metrics of one backend only. REQUIRES: start() was not called.
  void add(std::unique_ptr<grpc::Service> service);
  void add(std::shared_ptr<prometheus::Collectable> metrics);

  // Serves on the sockets, and the metrics on config.metrics_listen unless that is empty. Errors: ALREADY_EXISTS if
  // that one cannot be listened on, RESOURCE_EXHAUSTED.
  absl::Status start(ListeningSockets sockets);

  // The Unix socket has been bound anew. REQUIRES: start() has succeeded.
  void replace_local(Descriptor local) { acceptor_->replace_local(std::move(local)); }

  // REQUIRES: start() has succeeded.
  grpc::Server& server() { return *server_; }

  // Ends the control plane's watches, lets running calls finish within kDrainTimeoutMs / 2, and refuses new ones.
  // Blocks: not to be called from a thread that answers calls. REQUIRES: start() has succeeded.
  void drain();

 private:
  const DaemonConfig& config_;
  const InstanceView& view_;
  const AccessRules rules_;
  RequestMetrics metrics_;
  std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  std::unique_ptr<MetricsExposer> exposer_;
  std::unique_ptr<ControlService> control_;
  std::vector<std::unique_ptr<grpc::Service>> services_;  // all but control_
  const std::unique_ptr<grpc::CallbackGenericService> unknown_methods_;
  std::unique_ptr<grpc::Server> server_;          // it uses all of the above
  std::unique_ptr<ConnectionAcceptor> acceptor_;  // last: it feeds the server
};

}  // namespace ingot
