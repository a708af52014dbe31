// One Drill call: who is hit is told, then they are hit, then the outage is measured.
#pragma once

#include <vector>

#include <grpcpp/grpcpp.h>

#include "proto/ingot/control/v1/control.pb.h"
#include "replication/pages/instance_view.h"
#include "services/control/fault_injector.h"
#include "services/config/daemon_config.h"
#include "replication/client/replica_client.h"
#include "services/metrics/request_metrics.h"

namespace ingot {

// Whether a gRPC peer, as its context names it, is a process of this machine.
bool is_local(const std::string& peer);

// Starts the call and returns its reactor, which deletes itself when gRPC is done with it. All references outlive that.
grpc::ServerWriteReactor<::ingot::control::v1::DrillResponse>* start_drill(
    const ::ingot::control::v1::DrillRequest& request, const std::string& peer, const DaemonConfig& config,
    const InstanceView& view, ReplicaClient& client, FaultInjector& injector, RequestMetrics& metrics);

}  // namespace ingot
