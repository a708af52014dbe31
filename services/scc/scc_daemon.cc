#include "services/scc/scc_daemon.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "core/limits.h"
#include "replication/pages/instance_view.h"
#include "services/control/control_service.h"
#include "services/etcd/services.h"
#include "services/serving/grpc_server.h"
#include "services/metrics/exposer.h"
#include "services/scc/chip_fault_injector.h"
#include "services/scc/chip_host.h"
#include "services/scc/chip_metrics.h"
#include "services/scc/chip_service.h"
#include "services/supervision/instance.h"
#include "services/supervision/listen_check.h"

namespace ingot {
namespace {

constexpr const char* kIsolation = "core";  // the isolation in status and metrics

// All serving parts in the order of construction; destroyed in reverse.
class SccDaemon {
 public:
  SccDaemon(const DaemonConfig& config, std::unique_ptr<ChipHost> chip)
      : config_(config), chip_(std::move(chip)), view_(chip_->view()), injector_(*chip_) {}

  absl::Status start() {
    if (!config_.metrics_listen.empty()) {
      auto exposer = MetricsExposer::start(config_, view_, metrics_, std::make_shared<ChipCollectable>(*chip_));
      if (!exposer.ok()) return exposer.status();
      exposer_ = std::move(*exposer);
    }
    etcd_services_ = etcd::make_services(*chip_, config_, view_, metrics_);
    control_ = make_control_service(config_, view_, *chip_, metrics_, &injector_);
    chip_service_ = std::make_unique<ChipService>(*chip_, metrics_);
    std::vector<grpc::Service*> services{control_.get(), chip_service_.get()};
    for (auto& service : etcd_services_) services.push_back(service.get());
    auto server = start_grpc_server(config_.listen, services);
    if (!server.ok()) return server.status();
    server_ = std::move(*server);
    return absl::OkStatus();
  }

  // Answers the requests in flight and accepts no new ones.
  void drain() {
    server_->GetHealthCheckService()->SetServingStatus(false);
    control_->end_watches();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(kDrainTimeoutMs / 2));
    chip_->stop();
    exposer_.reset();
  }

  ChipHost& chip() { return *chip_; }

 private:
  const DaemonConfig& config_;
  const std::unique_ptr<ChipHost> chip_;
  const InstanceView& view_;
  ChipFaultInjector injector_;
  RequestMetrics metrics_;
  std::unique_ptr<MetricsExposer> exposer_;
  std::vector<std::unique_ptr<grpc::Service>> etcd_services_;
  std::unique_ptr<ControlService> control_;
  std::unique_ptr<ChipService> chip_service_;
  std::unique_ptr<grpc::Server> server_;
};

// The signals that end the daemon: blocked in every thread; the main thread waits for them.
sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

void log_serving(const DaemonConfig& config, const SccConfig& scc, const ChipPlacement& placement) {
  const std::string metrics =
      config.metrics_listen.empty() ? "off" : absl::StrCat("http://", config.metrics_listen, "/metrics");
  std::fprintf(stderr,
               "ingotd: serving %s: %d replicas (%s, %s) on simulated SCC cores %s at %s MHz, gateway on core %d, etcd "
               "v3 and control API on %s, metrics %s\n",
               config.name.c_str(), config.replicas, config.agreement.c_str(), config.transport.c_str(),
               absl::StrJoin(placement.replicas, ",").c_str(), scc.clocks.c_str(), placement.gateway,
               config.listen.c_str(), metrics.c_str());
}

}  // namespace

absl::Status run_scc_daemon(DaemonConfig config, const SccConfig& scc) {
  config.isolation = kIsolation;
  const auto placement = place_on_chip(scc, config.replicas);
  if (!placement.ok()) return placement.status();
  if (auto status = complete(config); !status.ok()) return status;
  Descriptor name;
  if (auto status = claim_instance_name(config.name, name); !status.ok()) return status;
  const sigset_t signals = stop_signals();
  INGOT_CHECK(::pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0);
  auto chip = ChipHost::start(config, scc);
  if (!chip.ok()) return chip.status();
  SccDaemon daemon(config, *std::move(chip));
  absl::Status outcome;  // written by the chip's thread before its signal
  daemon.chip().on_failure([&outcome](const absl::Status& why) {
    outcome = why;
    ::kill(::getpid(), SIGTERM);
  });
  if (auto status = daemon.start(); !status.ok()) return status;
  log_serving(config, scc, *placement);
  int signal = 0;
  INGOT_CHECK(::sigwait(&signals, &signal) == 0);
  daemon.drain();
  return outcome;
}

}  // namespace ingot
