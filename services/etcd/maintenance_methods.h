// etcdserverpb.Maintenance on a loop, but for Snapshot (snapshot_calls.h): state and health, for operators' tools.
#pragma once

#include "proto/etcd/rpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "replication/store/api.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/etcd/long_reads.h"
#include "services/etcd/loop_call.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Status, HashKV, Hash, Alarm (of which there is one, NOSPACE), Defragment and Downgrade (which do nothing), and
// MoveLeader. Used by its loop's thread only. The arguments outlive it, and it outlives every answer of `client`.
class MaintenanceMethods {
 public:
  MaintenanceMethods(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view,
                     RequestMetrics& metrics)
      : client_(client), view_(view), header_(config, view), metrics_(metrics) {}

  // Adds the methods, which use this object.
  void add_to(rpc::Methods& methods);

 private:
  void status(const LoopCall& call, const etcdserverpb::StatusRequest& request);
  void hash_kv(const LoopCall& call, const etcdserverpb::HashKVRequest& request);
  void hash(const LoopCall& call, const etcdserverpb::HashRequest& request);
  void alarm(const LoopCall& call, const etcdserverpb::AlarmRequest& request);
  void defragment(const LoopCall& call, const etcdserverpb::DefragmentRequest& request);
  void move_leader(const LoopCall& call, const etcdserverpb::MoveLeaderRequest& request);
  void downgrade(const LoopCall& call, const etcdserverpb::DowngradeRequest& request);

  void fill_since_3_6(etcdserverpb::StatusResponse& response) const;
  template <typename Response, typename Fill>
  void hash_at(const LoopCall& call, kv::Revision revision, Fill fill);

  ReplicaClient& client_;
  const InstanceView& view_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
  LongReads reads_;
};

}  // namespace ingot::etcd
