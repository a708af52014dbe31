#include "services/serving/serving.h"

#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <utility>

#include "core/check.h"
#include "services/etcd/services.h"
#include "services/process/limits.h"
#include "services/serving/grpc_server.h"
#include "services/serving/refused_calls.h"

namespace ingot {

namespace {

// A connection's caller, as far as a call of gRPC shows it.
Caller caller_of(const grpc::CallbackServerContext& context, const AccessRules& rules) {
  Caller caller{Caller::Door::kTcp, context.peer(), {}};
  if (is_of_owner(context)) {
    caller.door = Caller::Door::kUnix;
    caller.credentials = Caller::Credentials{rules.owner, 0, 0};
  }
  return caller;
}

}  // namespace

Serving::Serving(const DaemonConfig& config, const InstanceView& view, ReplicaClient& client, FaultInjector* injector)
    : config_(config),
      view_(view),
      rules_{::geteuid(), config.allow_remote_drills, config.socket},
      control_(make_control_service(
          config, view, client, metrics_,
          [this](const grpc::CallbackServerContext& context, std::string_view path) {
            return may_call(caller_of(context, rules_), path, rules_);
          },
          injector)),
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

absl::Status Serving::start(ListeningSockets sockets) {
  if (!config_.metrics_listen.empty()) {
    auto exposer = MetricsExposer::start(config_, view_, metrics_, collectables_);
    if (!exposer.ok()) return exposer.status();
    exposer_ = std::move(*exposer);
  }
  std::vector<grpc::Service*> services{control_.get()};
  for (const auto& service : services_) services.push_back(service.get());
  auto fed = start_fed_grpc_server(services, unknown_methods_.get());
  if (!fed.ok()) return fed.status();
  server_ = std::move(fed->server);
  const auto take = [this, feed = std::move(fed->feed)](Descriptor connection, const Caller& caller) {
    feed(std::move(connection), is_owner(caller, rules_));
  };
  auto acceptor = ConnectionAcceptor::start(std::move(sockets), take);
  if (!acceptor.ok()) return acceptor.status();
  acceptor_ = *std::move(acceptor);
  return absl::OkStatus();
}

void Serving::drain() {
  acceptor_.reset();
  server_->GetHealthCheckService()->SetServingStatus(false);
  control_->end_watches();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(kDrainTimeoutMs / 2));
}

}  // namespace ingot
