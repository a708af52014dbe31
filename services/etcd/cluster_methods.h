// etcdserverpb.Cluster on a loop. An instance is one member, whatever the number of its replicas, since all of them
// share one machine and one address.
#pragma once

#include "proto/etcd/rpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/etcd/loop_call.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Used by its loop's thread only. The arguments outlive it, and it outlives every answer of `client`.
class ClusterMethods {
 public:
  ClusterMethods(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics)
      : client_(client), header_(config, view), metrics_(metrics) {}

  // Adds the five methods, which use this object.
  void add_to(rpc::Methods& methods);

 private:
  void list(const LoopCall& call, const etcdserverpb::MemberListRequest& request);
  void add(const LoopCall& call, const etcdserverpb::MemberAddRequest& request);
  void remove(const LoopCall& call, const etcdserverpb::MemberRemoveRequest& request);
  void update(const LoopCall& call, const etcdserverpb::MemberUpdateRequest& request);
  void promote(const LoopCall& call, const etcdserverpb::MemberPromoteRequest& request);
  grpc::Status no_change_of(std::uint64_t member) const;

  ReplicaClient& client_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
};

}  // namespace ingot::etcd
