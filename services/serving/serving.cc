#include "services/serving/serving.h"

#include <chrono>
#include <utility>

#include <grpcpp/health_check_service_interface.h>

#include "core/check.h"
#include "services/etcd/services.h"
#include "services/process/limits.h"
#include "services/serving/grpc_server.h"
#include "services/serving/refused_calls.h"

namespace ingot {

Serving::Serving(const DaemonConfig& config, const InstanceView& view, ReplicaClient& client, FaultInjector* injector)
    : config_(config),
      view_(view),
      control_(make_control_service(config, view, client, metrics_, injector)),
      services_(etcd::make_services(client, config, view, metrics_)),
      unknown_methods_(make_unknown_methods()) {}

void Serving::add(std::unique_ptr<grpc::Service> service) {
  INGOT_CHECK(server_ == nullptr, "services are registered before the server starts");
  services_.push_back(std::move(service));
}

void Serving::add(std::shared_ptr<prometheus::Collectable> metrics) {
  INGOT_CHECK(exposer_ == nullptr, "metrics are registered before they are served");
  collectables_.push_back(std::move(metrics));
}

absl::Status Serving::start() {
  if (!config_.metrics_listen.empty()) {
    auto exposer = MetricsExposer::start(config_, view_, metrics_, collectables_);
    if (!exposer.ok()) return exposer.status();
    exposer_ = std::move(*exposer);
  }
  std::vector<grpc::Service*> services{control_.get()};
  for (const auto& service : services_) services.push_back(service.get());
  auto server = start_grpc_server(config_.listen, services, unknown_methods_.get());
  if (!server.ok()) return server.status();
  server_ = std::move(*server);
  return absl::OkStatus();
}

void Serving::drain() {
  server_->GetHealthCheckService()->SetServingStatus(false);
  control_->end_watches();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(kDrainTimeoutMs / 2));
}

}  // namespace ingot
