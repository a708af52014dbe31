#include "services/serving/front_end_process.h"

#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replication/pages/instance_view.h"
#include "services/backup/held_snapshot.h"
#include "services/config/auto_compaction.h"
#include "services/handover/supervisor_link.h"
#include "services/instance/instance_memory.h"
#include "services/launch/tasks.h"
#include "services/log/log.h"
#include "services/metrics/view_collectable.h"
#include "services/replica_process/death_watch.h"
#include "services/serving/auto_compaction.h"
#include "services/serving/front_end_loop.h"
#include "services/serving/limits.h"
#include "services/serving/self_check.h"
#include "services/serving/serving.h"
#include "transport/host/doorbell.h"

namespace ingot::inline services_serving {

namespace {

using Loops = std::vector<std::unique_ptr<FrontEndLoop>>;

absl::StatusOr<Loops> make_loops(const LaunchSpec& spec, InstanceMemory& memory, const InstanceView& view) {
  Loops loops;
  const std::shared_ptr<ShownSlot> shown = FrontEndLoop::shown_before(view);
  for (int index = 0; index < front_end_endpoints(spec.config); ++index) {
    auto loop = FrontEndLoop::create(spec, index, memory, view, shown);
    if (!loop.ok()) return loop.status();
    loops.push_back(*std::move(loop));
  }
  return loops;
}

std::vector<Serving::Served> served(const Loops& loops) {
  std::vector<Serving::Served> all;
  for (const auto& each : loops) all.push_back({each->serving(), each->client()});
  return all;
}

InstanceView view_of(const InstanceMemory& memory, const SupervisorLink& link) {
  InstanceView view = memory.view();
  view.loss = &link.loss();
  return view;
}

// The objects of the front end. The order of the members is that of construction: later ones use earlier ones. The
// first loop runs on the process's first thread, which is also the one that hears the supervisor.
class FrontEnd {
 public:
  // The arguments outlive the object. REQUIRES: there is a loop.
  FrontEnd(const LaunchSpec& spec, InstanceMemory& memory, const InstanceView& view, Loops loops, SupervisorLink& link)
      : spec_(spec),
        link_(link),
        loops_(std::move(loops)),
        watch_([this](EndpointId replica, Incarnation incarnation) {
          for (const auto& each : loops_) each->replica_died(replica, incarnation);
        }),
        snapshots_(cores_without_loops(spec.replicas)),
        serving_(spec.config, view, served(loops_), nullptr, published(), !spec.trees.initial.empty()),
        auto_compactor_(loops_.front()->client(), view) {
    if (memory.view_page() != nullptr) serving_.add(std::make_shared<ViewCollectable>(*memory.view_page()));
    const bool threads = spec.config.isolation == Isolation::kThread;
    for (std::uint16_t id = 0; !threads && id < memory.stable_segments().size(); ++id) {
      const IncarnationSegments& segments = memory.stable_segments()[id];
      if (!segments.empty() && segments.back().memory != nullptr) watch(EndpointId(id), segments.back());
    }
    memory.forget_stable_segments();
    take_snapshot();
  }
  ~FrontEnd() { stop(); }

  absl::Status start(const ListeningSockets& sockets) {
    if (auto status = serving_.start(sockets); !status.ok()) return status;
    for (const auto& each : loops_) each->add_session();
    if (auto status = start_self_check(); !status.ok()) return status;
    if (auto status = start_auto_compaction(); !status.ok()) return status;
    return start_threads();
  }

  // Runs until drain() has finished or leave is asked for.
  void run() {
    if (auto_timer_.valid()) first().watch(auto_timer_.get(), [this] { look_for_compaction(); });
    const auto receive = [&](const SupervisionMessage& message, const std::vector<Descriptor>& fds) {
      if (message.has_incarnation()) begin_incarnation(message.incarnation(), fds);
      if (message.has_socket()) listen_local(fds[0]);
      if (message.has_snapshot()) take_snapshot();
      if (message.has_ping()) self_check_->ask();
      if (message.has_drain()) drain();
      if (message.has_leave()) ::_exit(0);  // no answers are awaited any more
    };
    link_.watch(first(), receive, leave_after_loss);
    link_.send_ready();
    self_check_->ask();  // at once: a connection that was never used would make room for others when there is none
    first().run();
    if (drainer_.joinable()) drainer_.join();
  }

 private:
  EventLoop& first() { return loops_.front()->loop(); }

  // Pong goes out from the first loop, so it proves that this loop runs and that every loop answers.
  absl::Status start_self_check() {
    auto bell = Doorbell::create();
    if (!bell.ok()) return bell.status();
    answered_.emplace(*std::move(bell));
    first().watch(answered_->fd(), [this] {
      answered_->drain();
      link_.send(pong_message()).IgnoreError();
    });
    const Caller self{Caller::Door::kUnix, "self-check", Caller::Credentials{::geteuid(), ::getegid(), ::getpid()}};
    std::vector<SelfCheck::Connect> servers;
    for (const auto& each : loops_) {
      servers.push_back([&each, self](Descriptor connection) { each->serving().adopt(std::move(connection), self); });
    }
    auto check = SelfCheck::create(servers, [this] { answered_->ring(); });
    if (!check.ok()) return check.status();
    self_check_ = *std::move(check);
    return absl::OkStatus();
  }

  absl::Status start_auto_compaction() {
    const DaemonConfig& config = spec_.config;
    const auto wanted = parse_auto_compaction(config.auto_compaction_mode, config.auto_compaction_retention);
    if (!wanted.ok() || !wanted->on()) return wanted.status();
    auto_timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!auto_timer_.valid()) return absl::ResourceExhaustedError(absl::StrCat("no timer: ", std::strerror(errno)));
    constexpr timespec kPeriod{kCompactionLookMs / 1000, (kCompactionLookMs % 1000) * 1'000'000};
    const itimerspec times{kPeriod, kPeriod};
    ::timerfd_settime(auto_timer_.get(), 0, &times, nullptr);
    return absl::OkStatus();
  }

  void look_for_compaction() {
    std::uint64_t times = 0;
    if (::read(auto_timer_.get(), &times, sizeof times) == sizeof times) auto_compactor_.tick();
  }

  // Of all loops but the first.
  absl::Status start_threads() {
    try {
      for (std::size_t i = 1; i < loops_.size(); ++i) threads_.emplace_back([this, i] { loops_[i]->loop().run(); });
    } catch (const std::system_error& error) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot start a thread: ", error.what()));
    }
    return absl::OkStatus();
  }

  void stop() {
    for (const auto& each : loops_) each->loop().stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // It would never exchange messages with the incarnation that it was to be told of. It holds no state, and the
  // supervisor starts the next one, to which clients have no connections yet.
  static void leave_after_loss(const absl::Status& why) {
    log_last(absl::StrCat("ends, to be started again: a message of the supervisor was lost, since clients hold all open "
                          "files (", std::string(why.message()),
                          "); let fewer clients connect, or raise the limit of open files"));
    ::_exit(1);
  }

  void begin_incarnation(const supervision_v1::NewIncarnation& started, const std::vector<Descriptor>& fds) {
    if (started.endpoint() >= spec_.config.replicas || started.ended()) return;  // the next one begins
    const EndpointId replica(static_cast<std::uint16_t>(started.endpoint()));
    const Incarnation incarnation(started.incarnation());
    for (const auto& each : loops_) each->begin_incarnation(replica, incarnation, fds[0].get());
    if (fds.size() < 2) return;
    if (auto stable = map_stable_segment(fds[1].get()); stable.ok()) watch(replica, {incarnation, *std::move(stable)});
  }

  void listen_local(const Descriptor& socket) {
    if (drainer_.joinable()) return;
    if (auto status = serving_.listen_local(socket); !status.ok()) leave_after_loss(status);
  }

  // In thread isolation none is published.
  const NewestSnapshot* published() const {
    return spec_.config.isolation == Isolation::kProcess ? &snapshots_ : nullptr;
  }

  void take_snapshot() {
    const LaunchSpec& known = link_.known();
    if (known.snapshot_fd >= 0) snapshots_.offer(Slot(known.snapshot_slot), known.snapshot_fd);
  }

  void watch(EndpointId replica, const IncarnationSegment& started) {
    watch_.watch(replica, started.incarnation, started.memory->bytes(), started.memory);
  }

  // Draining waits for calls whose answers come through the loops, so it runs on a thread of its own.
  void drain() {
    if (drainer_.joinable()) return;
    drainer_ = std::thread([this] {
      serving_.drain();
      for (const auto& each : loops_) each->loop().stop();
    });
  }

  const LaunchSpec& spec_;
  SupervisorLink& link_;
  std::optional<Doorbell> answered_;  // rung when all loops have answered self_check_
  const Loops loops_;
  DeathWatch watch_;
  NewestSnapshot snapshots_;
  Serving serving_;
  std::unique_ptr<SelfCheck> self_check_;
  AutoCompactor auto_compactor_;
  Descriptor auto_timer_;  // invalid: there is no automatic compaction
  std::vector<std::thread> threads_;
  std::thread drainer_;
};

}  // namespace

int run_front_end_process(LaunchSpec spec) {
  const auto link = SupervisorLink::open(spec, "front-end");
  if (link == nullptr) return 1;
  if (auto status = check_room_for_tasks(front_end_tasks(front_end_endpoints(spec.config))); !status.ok()) {
    link->send_failed(status);
    return 1;
  }
  auto memory = InstanceMemory::attach(spec);
  if (!memory.ok()) {
    link->send_failed(memory.status());
    return 1;
  }
  const ListeningSockets sockets{Descriptor(std::exchange(spec.listen_fd, -1)),
                                 Descriptor(std::exchange(spec.socket.fd, -1))};
  spec.close_descriptors();
  const InstanceView view = view_of(**memory, *link);
  auto loops = make_loops(spec, **memory, view);
  if (!loops.ok()) {
    link->send_failed(loops.status());
    return 1;
  }
  FrontEnd front_end(spec, **memory, view, *std::move(loops), *link);
  if (auto status = front_end.start(sockets); !status.ok()) {
    link->send_failed(status);
    return 1;
  }
  front_end.run();
  return 0;
}

}  // namespace ingot::services_serving
