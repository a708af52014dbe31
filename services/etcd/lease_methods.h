// etcdserverpb.Lease on a loop. docs/etcd.md says what each call does.
#pragma once

#include <cstdint>
#include <string_view>

#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "replication/store/api.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/etcd/keep_alives.h"
#include "services/etcd/loop_call.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// The id of a lease whose client leaves the choice: random and positive, as etcd's.
std::int64_t draw_lease_id();

// Serves the calls of one loop, and is used by that loop's thread only.
class LeaseMethods {
 public:
  // The arguments outlive this, and this outlives every answer of `client`, which the loop's thread delivers, and every
  // call.
  LeaseMethods(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics)
      : client_(client), header_(config, view), metrics_(metrics), keep_alives_(client, header_) {}

  // Adds the five methods, which use this object.
  void add_to(rpc::Methods& methods);

  // Ends all streams, in the words in which etcd says that its server stops.
  void drain();

 private:
  void grant(rpc::Call caller, std::string_view bytes);
  void revoke(rpc::Call caller, std::string_view bytes);
  void time_to_live(rpc::Call caller, std::string_view bytes);
  void leases(rpc::Call caller, std::string_view bytes);

  // `translate` puts the result's body into the response.
  template <typename Body, typename Response, typename Translate>
  void submit(const LoopCall& call, RequestKind kind, const kv::Request& request, Translate translate);

  ReplicaClient& client_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
  KeepAlives keep_alives_;
};

}  // namespace ingot::etcd
