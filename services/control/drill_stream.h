// One Drill call: tells the caller the targets, injects the fault, then measures the outage.
#pragma once

#include <vector>

#include <grpcpp/grpcpp.h>

#include "proto/ingot/control/v1/control.pb.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/control/fault_injector.h"
#include "services/metrics/request_metrics.h"

namespace ingot::inline services_control {

// Starts the call and returns its reactor, which deletes itself when gRPC has finished with it. All references outlive
// it.
grpc::ServerWriteReactor<::ingot::control::v1::DrillResponse>* start_drill(
    const ::ingot::control::v1::DrillRequest& request, const DaemonConfig& config, const InstanceView& view,
    ReplicaClient& client, FaultInjector& injector, RequestMetrics& metrics);

}  // namespace ingot::services_control
