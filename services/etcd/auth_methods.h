// etcdserverpb.Auth on a loop. An instance has no users and no roles; etcd's clients get the error "not enabled".
#pragma once

#include "proto/etcd/rpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/etcd/loop_call.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Used by its loop's thread only. The arguments outlive it.
class AuthMethods {
 public:
  AuthMethods(const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics)
      : header_(config, view), metrics_(metrics) {}

  // Adds the methods, which use this object.
  void add_to(rpc::Methods& methods);

 private:
  void status(const LoopCall& call, const etcdserverpb::AuthStatusRequest& request);
  template <typename Request>
  void refuse(const LoopCall& call, const Request& request);

  const HeaderSource header_;
  RequestMetrics& metrics_;
};

}  // namespace ingot::etcd
