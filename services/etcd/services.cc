#include "services/etcd/services.h"

#include <utility>

#include "proto/etcd/election.grpc.pb.h"
#include "proto/etcd/lock.grpc.pb.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"

namespace ingot::etcd {

std::vector<std::unique_ptr<grpc::Service>> make_services(ReplicaClient& client, const DaemonConfig& config,
                                                          const InstanceView& view, RequestMetrics& metrics,
                                                          SnapshotParts snapshots) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  // For reflection: the loops serve these.
  services.push_back(std::make_unique<etcdserverpb::KV::CallbackService>());
  services.push_back(std::make_unique<etcdserverpb::Lease::CallbackService>());
  services.push_back(std::make_unique<etcdserverpb::Watch::CallbackService>());
  services.push_back(std::make_unique<v3lockpb::Lock::CallbackService>());
  services.push_back(std::make_unique<v3electionpb::Election::CallbackService>());
  services.push_back(make_maintenance_service(client, config, view, metrics, std::move(snapshots)));
  services.push_back(make_cluster_service(client, config, view, metrics));
  services.push_back(make_auth_service(config, view, metrics));
  return services;
}

}  // namespace ingot::etcd
