#include "services/control/control_service.h"

#include <string>
#include <utility>
#include <vector>

#include "replication/pages/instance_view.h"
#include "services/control/digests.h"
#include "services/control/drill_stream.h"
#include "services/control/move.h"
#include "services/control/refused_stream.h"
#include "services/control/status_stream.h"
#include "services/control/to_grpc.h"
#include "services/status/status.h"

namespace ingot::inline services_control {
namespace {

using ::ingot::control::v1::GetDigestsRequest;
using ::ingot::control::v1::GetDigestsResponse;
using ::ingot::control::v1::GetStatusRequest;
using ::ingot::control::v1::GetStatusResponse;
using ::ingot::control::v1::GetTopologyRequest;
using ::ingot::control::v1::GetTopologyResponse;
using ::ingot::control::v1::WatchStatusRequest;

constexpr const char* kDrillPath = "/ingot.control.v1.Control/Drill";
constexpr const char* kMovePath = "/ingot.control.v1.Control/Move";

grpc::ServerUnaryReactor* finish_ok(grpc::CallbackServerContext* context, RequestTimer& timer) {
  timer.finish(grpc::StatusCode::OK);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

// Only running replicas can answer; a question to another would only delay the caller.
std::vector<EndpointId> replicas_up(const GetStatusResponse& status) {
  std::vector<EndpointId> up;
  for (const auto& replica : status.replicas())
    if (replica.state() == control_v1::STATE_UP) up.emplace_back(static_cast<std::uint16_t>(replica.id()));
  return up;
}

}  // namespace

ControlService::ControlService(const DaemonConfig& config, const InstanceView& view, ReplicaClient& client,
                               RequestMetrics& metrics, CallGate gate, FaultInjector* injector)
    : config_(config),
      view_(view),
      client_(client),
      metrics_(metrics),
      gate_(std::move(gate)),
      signals_(view),
      injector_(injector != nullptr ? *injector : signals_),
      machine_(whole_machine()),
      hub_([this] { return read_status(config_, view_, unix_now_ms()); }) {}

grpc::ServerUnaryReactor* ControlService::GetStatus(grpc::CallbackServerContext* context,
                                                    const GetStatusRequest* request, GetStatusResponse* response) {
  auto timer = std::make_shared<RequestTimer>(metrics_, Method::kControlGetStatus);
  *response = read_status(config_, view_, unix_now_ms());
  if (!request->digests()) return finish_ok(context, *timer);

  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  gather_digests(client_, replicas_up(*response), [timer, reactor, response](const GetDigestsResponse& answers) {
    for (const auto& entry : answers.replicas())
      if (entry.has_digest())
        *response->mutable_replicas(static_cast<int>(entry.replica()))->mutable_digest() = entry.digest();
    timer->finish(grpc::StatusCode::OK);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

grpc::ServerUnaryReactor* ControlService::GetTopology(grpc::CallbackServerContext* context, const GetTopologyRequest*,
                                                      GetTopologyResponse* response) {
  RequestTimer timer(metrics_, Method::kControlGetTopology);
  if (machine_.ok()) {
    *response = read_topology(*machine_, view_);
    return finish_ok(context, timer);
  }
  timer.finish(grpc::StatusCode::INTERNAL);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status(grpc::StatusCode::INTERNAL, std::string(machine_.status().message())));
  return reactor;
}

grpc::ServerWriteReactor<GetStatusResponse>* ControlService::WatchStatus(grpc::CallbackServerContext* context,
                                                                         const WatchStatusRequest* request) {
  return start_status_stream(hub_, gate_.caller(*context), request->interval(), metrics_);
}

// Replicas that do not run have an entry, too, without a digest.
grpc::ServerUnaryReactor* ControlService::GetDigests(grpc::CallbackServerContext* context, const GetDigestsRequest*,
                                                     GetDigestsResponse* response) {
  auto timer = std::make_shared<RequestTimer>(metrics_, Method::kControlGetDigests);
  const GetStatusResponse status = read_status(config_, view_, unix_now_ms());
  for (const auto& replica : status.replicas()) response->add_replicas()->set_replica(replica.id());

  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  gather_digests(client_, replicas_up(status), [timer, reactor, response](const GetDigestsResponse& answers) {
    for (const auto& entry : answers.replicas())
      *response->mutable_replicas(static_cast<int>(entry.replica())) = entry;
    timer->finish(grpc::StatusCode::OK);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

grpc::ServerWriteReactor<control_v1::DrillResponse>* ControlService::Drill(grpc::CallbackServerContext* context,
                                                                            const control_v1::DrillRequest* request) {
  if (const absl::Status may = gate_.may(*context, kDrillPath); !may.ok()) {
    return new RefusedStream<control_v1::DrillResponse>(metrics_, Method::kControlDrill, to_grpc(may));
  }
  return start_drill(*request, config_, view_, client_, injector_, metrics_);
}

grpc::ServerUnaryReactor* ControlService::Move(grpc::CallbackServerContext* context,
                                               const control_v1::MoveRequest* request,
                                               control_v1::MoveResponse* response) {
  auto timer = std::make_shared<RequestTimer>(metrics_, Method::kControlMove);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (const absl::Status may = gate_.may(*context, kMovePath); !may.ok()) {
    timer->finish(grpc::StatusCode::PERMISSION_DENIED);
    reactor->Finish(to_grpc(may));
    return reactor;
  }
  move_role(client_, *request, read_status(config_, view_, unix_now_ms()),
            [timer, reactor, response](const absl::StatusOr<control_v1::MoveResponse>& answer) {
              if (answer.ok()) *response = *answer;
              const grpc::Status status = to_grpc(answer.status());
              timer->finish(status.error_code());
              reactor->Finish(status);
            });
  return reactor;
}

std::unique_ptr<ControlService> make_control_service(const DaemonConfig& config, const InstanceView& view,
                                                     ReplicaClient& client, RequestMetrics& metrics, CallGate gate,
                                                     FaultInjector* injector) {
  return std::make_unique<ControlService>(config, view, client, metrics, std::move(gate), injector);
}

}  // namespace ingot::services_control
