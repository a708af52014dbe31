// v3lockpb.Lock and v3electionpb.Election on a loop. docs/etcd.md says what each call does.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/etcd/loop_call.h"
#include "services/locks/leaves.h"
#include "services/locks/waiting_call.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"
#include "services/watch/hub.h"

namespace ingot::locks {

// Serves the calls of one loop, and is used by that loop's thread only. Lock, Campaign and Observe may wait for as long
// as their callers want, so they are no unary methods for the server: it tells when a caller has gone.
class LockMethods {
 public:
  // `later` calls its argument in a later round of the loop. The arguments outlive this, and this outlives every answer
  // of `client`, which the loop's thread delivers, and every call.
  LockMethods(ReplicaClient& client, watch::Hub& hub, const DaemonConfig& config, const InstanceView& view,
              RequestMetrics& metrics, std::function<void(std::function<void()>)> later)
      : client_(client),
        header_(config, view),
        metrics_(metrics),
        leaves_(client),
        environment_{client, hub, leaves_, header_, std::move(later)} {}
  LockMethods(const LockMethods&) = delete;
  LockMethods& operator=(const LockMethods&) = delete;

  // Adds the seven methods, which use this object.
  void add_to(rpc::Methods& methods);

  // No call begins to wait any more, and those that wait leave their keys. The hub ends them.
  void drain() {
    environment_.stopped = true;
    leaves_.stop();
  }

  // The loop polls it.
  Pollable& leaves() { return leaves_; }

 private:
  void add_waiting(rpc::Methods& methods);
  void unlock(rpc::Call caller, std::string_view bytes);
  void proclaim(rpc::Call caller, std::string_view bytes);
  void leader(rpc::Call caller, std::string_view bytes);
  void resign(rpc::Call caller, std::string_view bytes);

  ReplicaClient& client_;
  const etcd::HeaderSource header_;
  RequestMetrics& metrics_;
  Leaves leaves_;
  Environment environment_;
};

}  // namespace ingot::locks
