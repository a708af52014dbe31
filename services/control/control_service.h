// The control plane, ingot.control.v1.Control, on gRPC's callback API.
#pragma once

#include <memory>

#include <grpcpp/grpcpp.h>

#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/control/call_gate.h"
#include "services/control/fault_injector.h"
#include "services/control/status_hub.h"
#include "services/metrics/request_metrics.h"
#include "services/status/topology.h"

namespace ingot::inline services_control {

// Thread-safe. Shut the gRPC server down before it is destroyed.
class ControlService final : public ::ingot::control::v1::Control::CallbackService {
 public:
  // The arguments outlive the service. `gate.may` is asked before each call that harms. `injector` carries out the
  // faults of drills; null: signals to processes.
  ControlService(const DaemonConfig& config, const InstanceView& view, ReplicaClient& client, RequestMetrics& metrics,
                 CallGate gate, FaultInjector* injector = nullptr);

  // Ends every WatchStatus stream with UNAVAILABLE and accepts no more, for a daemon that shuts down. Call it before
  // grpc::Server::Shutdown, which waits for streams.
  void end_watches() { hub_.end(); }

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const ::ingot::control::v1::GetStatusRequest* request,
                                      ::ingot::control::v1::GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* GetTopology(grpc::CallbackServerContext* context,
                                        const ::ingot::control::v1::GetTopologyRequest* request,
                                        ::ingot::control::v1::GetTopologyResponse* response) override;
  grpc::ServerWriteReactor<::ingot::control::v1::GetStatusResponse>* WatchStatus(
      grpc::CallbackServerContext* context, const ::ingot::control::v1::WatchStatusRequest* request) override;
  grpc::ServerUnaryReactor* GetDigests(grpc::CallbackServerContext* context,
                                       const ::ingot::control::v1::GetDigestsRequest* request,
                                       ::ingot::control::v1::GetDigestsResponse* response) override;
  grpc::ServerWriteReactor<::ingot::control::v1::DrillResponse>* Drill(
      grpc::CallbackServerContext* context, const ::ingot::control::v1::DrillRequest* request) override;
  grpc::ServerUnaryReactor* Move(grpc::CallbackServerContext* context,
                                 const ::ingot::control::v1::MoveRequest* request,
                                 ::ingot::control::v1::MoveResponse* response) override;

 private:
  const DaemonConfig& config_;
  const InstanceView& view_;
  ReplicaClient& client_;
  RequestMetrics& metrics_;
  const CallGate gate_;
  SignalFaultInjector signals_;
  FaultInjector& injector_;
  const absl::StatusOr<Topology> machine_;
  StatusHub hub_;
};

std::unique_ptr<ControlService> make_control_service(const DaemonConfig& config, const InstanceView& view,
                                                     ReplicaClient& client, RequestMetrics& metrics, CallGate gate,
                                                     FaultInjector* injector = nullptr);

}  // namespace ingot::services_control
