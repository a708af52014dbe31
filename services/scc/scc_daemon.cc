#include "services/scc/scc_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "services/instance/instance.h"
#include "services/instance/instance_name.h"
#include "services/log/log.h"
#include "services/scc/chip_fault_injector.h"
#include "services/scc/chip_host.h"
#include "services/scc/chip_metrics.h"
#include "services/scc/chip_service.h"
#include "services/serving/solo_serving.h"
#include "services/sockets/configured_socket.h"
#include "services/sockets/service_manager.h"
#include "services/sockets/tcp_listener.h"

namespace ingot::inline services_scc {
namespace {

// All serving parts in the order of construction; destroyed in reverse.
class SccDaemon {
 public:
  explicit SccDaemon(std::unique_ptr<ChipHost> chip) : chip_(std::move(chip)), injector_(*chip_) {}

  absl::Status start(const DaemonConfig& config, const ListeningSockets& sockets) {
    auto serving = SoloServing::create(config, chip_->view(), *chip_, &injector_);
    if (!serving.ok()) return serving.status();
    serving_ = *std::move(serving);
    serving_->serving().add(std::make_unique<ChipService>(*chip_, serving_->serving().metrics()));
    serving_->serving().add(std::make_shared<ChipCollectable>(*chip_));
    return serving_->start(sockets);
  }

  // Answers the requests in flight and accepts no new ones.
  void drain() {
    serving_->drain();
    chip_->stop();
  }

  ChipHost& chip() { return *chip_; }

 private:
  const std::unique_ptr<ChipHost> chip_;
  ChipFaultInjector injector_;
  std::unique_ptr<SoloServing> serving_;
};

// The signals that end the daemon: blocked in every thread; the main thread waits for them.
sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

void warn_of_sockets(const DaemonConfig& config, int listener, const std::string& why_no_socket) {
  for (const std::string& each : {describe_exposure(config, listener), why_no_socket}) {
    if (!each.empty()) log_warning(each);
  }
}

Descriptor duplicate(int fd) { return Descriptor(fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

void log_serving(const DaemonConfig& config, const SccConfig& scc, const ChipPlacement& placement) {
  const std::string metrics =
      config.metrics_listen.empty() ? "off" : absl::StrCat("http://", config.metrics_listen, "/metrics");
  log_info(absl::StrCat("serving ", config.name, ": ", config.replicas, " replicas (", name_of(config.agreement), ", ",
                        name_of(config.transport), ") on simulated SCC cores ",
                        absl::StrJoin(placement.replicas, ","), " at ", scc.clocks, " MHz, gateway on core ",
                        placement.gateway, ", etcd v3 and control API on ", config.listen, ", metrics ", metrics,
                        config.socket.empty() ? "" : ", Unix socket ", config.socket));
  tell_service_manager("READY=1");
}

}  // namespace

absl::Status run_scc_daemon(DaemonConfig config, const SccConfig& scc) {
  config.isolation = Isolation::kCore;
  const auto placement = place_on_chip(scc, config.replicas);
  if (!placement.ok()) return placement.status();
  auto listener = complete(config);
  if (!listener.ok()) return listener.status();
  Descriptor name;
  if (auto status = claim_instance_name(config.name, name); !status.ok()) return status;
  auto socket = open_configured_socket(config);
  if (!socket.ok()) return socket.status();
  const sigset_t signals = stop_signals();
  INGOT_CHECK(::pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0);
  auto chip = ChipHost::start(config, scc);
  if (!chip.ok()) return chip.status();
  start_log("supervisor", config.log_format, config.log_level);
  warn_of_sockets(config, listener->get(), socket->why_none);
  SccDaemon daemon(*std::move(chip));
  absl::Status outcome;  // written by the chip's thread before its signal
  daemon.chip().on_failure([&outcome](const absl::Status& why) {
    outcome = why;
    ::kill(::getpid(), SIGTERM);
  });
  const ListeningSockets shared{duplicate(listener->get()), duplicate(socket->listener.fd())};
  if (auto status = daemon.start(config, shared); !status.ok()) return logged(status);
  log_serving(config, scc, *placement);
  int signal = 0;
  INGOT_CHECK(::sigwait(&signals, &signal) == 0);
  refuse_connections(listener->get());
  socket->listener.remove_file();
  tell_service_manager("STOPPING=1");
  daemon.drain();
  return logged(outcome);
}

}  // namespace ingot::services_scc
