#include "services/serving/serving.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <grpcpp/health_check_service_interface.h>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "services/etcd/services.h"
#include "services/launch/limits.h"
#include "services/rpc/server/limits.h"
#include "services/serving/door_collectable.h"
#include "services/serving/etcd_collectable.h"
#include "services/serving/grpc_server.h"
#include "services/serving/http_answers.h"
#include "services/serving/limits.h"
#include "services/serving/refused_calls.h"
#include "services/serving/watch_collectable.h"

namespace ingot::inline services_serving {

namespace {

using Clock = std::chrono::steady_clock;

// Every loop has its own: an event of the socket wakes the loops that wait for it.
absl::StatusOr<Descriptor> duplicate(const Descriptor& socket) {
  Descriptor copy(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (copy.valid()) return copy;
  return absl::ResourceExhaustedError(absl::StrCat("a loop cannot listen: ", std::strerror(errno)));
}

int connections_of_this_process() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  return connections_max(limit.rlim_cur, error ? 0 : static_cast<std::uint64_t>(std::distance(begin(open), end(open))));
}

std::vector<const rpc::ServerCounters*> counters_of(const std::vector<Serving::Served>& loops) {
  std::vector<const rpc::ServerCounters*> counters;
  for (const Serving::Served& each : loops) counters.push_back(&each.loop.counters());
  return counters;
}

std::vector<const watch::WatchCounters*> watch_counters_of(const std::vector<Serving::Served>& loops) {
  std::vector<const watch::WatchCounters*> counters;
  for (const Serving::Served& each : loops) counters.push_back(&each.loop.watch_counters());
  return counters;
}

}  // namespace

// What is open at the start grows with the instance's replicas and loops. Later come segments of further incarnations.
int connections_max(std::uint64_t limit, std::uint64_t open) {
  constexpr std::uint64_t kReserved = rpc::kDescriptorsReserved;
  const std::uint64_t rest = std::max(kReserved, open + kReserved / 2);
  const std::uint64_t left = limit > 2 * rest ? limit - rest : limit / 2;
  return static_cast<int>(std::min<std::uint64_t>(left, rpc::kConnectionsMax));
}

Serving::Serving(const DaemonConfig& config, const InstanceView& view, std::vector<Served> loops,
                 FaultInjector* injector, const NewestSnapshot* snapshots, bool trees)
    : config_(config),
      view_(view),
      loops_(std::move(loops)),
      rules_{::geteuid(), config.allow_remote_drills, config.socket},
      client_(loops_.front().loop.tasks(), loops_.front().client),
      control_(make_control_service(
          config, view, client_, metrics_,
          {.may =
               [this](const grpc::CallbackServerContext& context, std::string_view path) {
                 return may_call(caller_of(context), path, rules_);
               },
           .caller = [](const grpc::CallbackServerContext& context) { return caller_of(context).address; }},
          injector)),
      services_(etcd::make_services(
          client_, config, view, metrics_,
          {.newest = snapshots, .trees = trees, .caller = caller_of})),
      unknown_methods_(make_unknown_methods()) {
  collectables_.push_back(std::make_shared<DoorCollectable>(counters_of(loops_), passed_calls_));
  collectables_.push_back(std::make_shared<WatchCollectable>(watch_counters_of(loops_)));
  collectables_.push_back(std::make_shared<EtcdCollectable>(
      config, view, EtcdCollectable::Counted{metrics_, counters_of(loops_), watch_counters_of(loops_)}));
}

// The calls that the loops have passed on end first: the server waits for them.
Serving::~Serving() {
  for (const Served& each : loops_) each.loop.end();
}

void Serving::add(std::unique_ptr<grpc::Service> service) {
  INGOT_CHECK(server_ == nullptr, "services are registered before the server starts");
  services_.push_back(std::move(service));
}

void Serving::add(std::shared_ptr<prometheus::Collectable> metrics) {
  INGOT_CHECK(!metrics_text_, "metrics are registered before they are served");
  collectables_.push_back(std::move(metrics));
}

absl::Status Serving::start(const ListeningSockets& sockets) {
  metrics_text_.emplace(config_, view_, metrics_, collectables_);
  http1_ = make_http_answers(config_, view_);
  if (!config_.metrics_listen.empty()) {
    auto exposer = MetricsExposer::start(config_.metrics_listen, *metrics_text_, http1_);
    if (!exposer.ok()) return exposer.status();
    exposer_ = std::move(*exposer);
  }
  http1_["/metrics"] = [this](std::string_view) {
    return rpc::Http1Answer{200, metrics_text_->recent(), kMetricsType};
  };
  if (auto status = start_server(); !status.ok()) return status;
  const int connections = connections_of_this_process() / static_cast<int>(loops_.size());
  const ServingLoop::Parts parts{config_, view_, metrics_, rules_, http1_, passed_calls_, connections};
  for (const Served& each : loops_) {
    each.loop.serve(parts, each.client, server_->InProcessChannel(channel_arguments()));
    if (auto status = listen(each.loop, sockets); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Serving::start_server() {
  std::vector<grpc::Service*> services{control_.get()};
  for (const auto& service : services_) services.push_back(service.get());
  auto server = start_inner_server(services, *unknown_methods_);
  if (!server.ok()) return server.status();
  server_ = std::move(*server);
  return absl::OkStatus();
}

absl::Status Serving::listen(ServingLoop& loop, const ListeningSockets& sockets) {
  const std::pair<const Descriptor*, Caller::Door> all[] = {{&sockets.tcp, Caller::Door::kTcp},
                                                            {&sockets.local, Caller::Door::kUnix}};
  for (const auto& [socket, door] : all) {
    if (!socket->valid()) continue;
    auto own = duplicate(*socket);
    if (!own.ok()) return own.status();
    if (auto status = loop.listen(*std::move(own), door); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// A loop that gets no duplicate leaves the new socket's connections to the others.
absl::Status Serving::listen_local(const Descriptor& local) {
  absl::Status status;
  std::size_t without = 0;
  for (const Served& each : loops_) {
    auto own = duplicate(local);
    if (!own.ok()) {
      status = own.status();
      ++without;
      continue;
    }
    const auto shared = std::make_shared<Descriptor>(*std::move(own));
    each.loop.tasks().post([&loop = each.loop, shared] {
      loop.listen(std::move(*shared), Caller::Door::kUnix).IgnoreError();
    });
  }
  return without == loops_.size() ? status : absl::OkStatus();
}

bool Serving::wait_drained(std::chrono::milliseconds longest) const {
  const auto until = Clock::now() + longest;
  const auto all = [this] {
    return std::all_of(loops_.begin(), loops_.end(), [](const Served& each) { return each.loop.drained(); });
  };
  while (!all() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(kDrainedPollMs));
  return all();
}

// The loops' calls end by themselves or, after a while, with the server that they were passed on to.
void Serving::drain() {
  server_->GetHealthCheckService()->SetServingStatus(false);
  control_->end_watches();
  for (const Served& each : loops_) each.loop.drain();
  wait_drained(std::chrono::milliseconds(kDrainTimeoutMs / 2));
  server_->Shutdown(std::chrono::system_clock::now());
  wait_drained(std::chrono::milliseconds(kLastAnswersMs));
}

}  // namespace ingot::services_serving
