// etcd's v3 services but those that the loops serve, as gRPC callback services. The loops have KV, Lease
// (services/etcd/kv_methods.h, lease_methods.h), Watch (services/watch/watch_methods.h), Lock and Election
// (services/locks/lock_methods.h). docs/etcd.md says what each call does.
//
// Each make_ function returns a service that a grpc::ServerBuilder may register; client, config, view and metrics
// outlive the server, which is set up as services/serving/grpc_server.h says (message sizes). The services keep no
// state but the counts of their calls; gRPC calls them from many threads.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <memory>
#include <vector>

#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/etcd/snapshot_stream.h"
#include "services/metrics/request_metrics.h"

namespace ingot::etcd {

// Status, HashKV, Hash, Alarm (of which there is one, NOSPACE), Snapshot, Defragment (which does nothing) and MoveLeader.
std::unique_ptr<grpc::Service> make_maintenance_service(ReplicaClient& client, const DaemonConfig& config,
                                                        const InstanceView& view, RequestMetrics& metrics,
                                                        SnapshotParts snapshots);
// MemberList: one member, whatever the number of replicas.
std::unique_ptr<grpc::Service> make_cluster_service(ReplicaClient& client, const DaemonConfig& config,
                                                    const InstanceView& view, RequestMetrics& metrics);
// Every call is refused with a sentence that names what is missing.
std::unique_ptr<grpc::Service> make_auth_service(const DaemonConfig& config, const InstanceView& view,
                                                 RequestMetrics& metrics);

// All of the above, and the loops' services for reflection alone: their calls never come here.
std::vector<std::unique_ptr<grpc::Service>> make_services(ReplicaClient& client, const DaemonConfig& config,
                                                          const InstanceView& view, RequestMetrics& metrics,
                                                          SnapshotParts snapshots = {});

}  // namespace ingot::etcd
