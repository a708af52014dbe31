#include "services/serving/front_end_process.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "replication/client/session_client.h"
#include "replication/pages/instance_view.h"
#include "services/log/log.h"
#include "services/process/death_watch.h"
#include "services/process/instance_memory.h"
#include "services/process/supervisor_link.h"
#include "services/process/tasks.h"
#include "services/serving/connection_acceptor.h"
#include "services/serving/self_check.h"
#include "services/serving/serving.h"
#include "transport/host/doorbell.h"
#include "transport/host/event_loop.h"
#include "transport/host/host_transport.h"
#include "transport/host/peer_incarnations.h"

namespace ingot {

namespace {

std::uint64_t new_session() {
  std::uint64_t session = 0;
  INGOT_CHECK(::getrandom(&session, sizeof session, 0) == sizeof session, "the kernel's randomness is missing");
  return session;
}

// The page of the replica that has seen the newest leadership; a dead replica's page shows an older one.
const ReplicaPage& best_informed(const InstanceView& view) {
  return **std::max_element(view.replicas.begin(), view.replicas.end(), [](const auto* a, const auto* b) {
    return (*a)[ReplicaCounter::kBallot].get() < (*b)[ReplicaCounter::kBallot].get();
  });
}

SessionClient::Options client_options(const LaunchSpec& spec, const InstanceView& view, Fabric& fabric,
                                      PeerIncarnations& incarnations, EndpointId self) {
  SessionClient::Options options;
  options.replicas = spec.config.replicas;
  options.session = new_session();
  options.incarnation = Incarnation(spec.front_end_incarnation);
  options.incarnations = &incarnations;
  options.pages = view.replicas;
  const ReplicaPage& page = best_informed(view);
  options.leader = EndpointId(static_cast<std::uint16_t>(page[ReplicaCounter::kLeader].get()));
  options.acceptor = EndpointId(static_cast<std::uint16_t>(page[ReplicaCounter::kAcceptor].get()));
  options.nearest = EndpointId(static_cast<std::uint16_t>(spec.config.replicas - 1));
  options.daemon = view.daemon;
  options.wake_loop = [&fabric, self] { fabric.notify(self); };
  return options;
}

// The objects of the front end. The order of the members is that of construction: later ones use earlier ones.
class FrontEnd {
 public:
  // `sockets`: to serve on, once start() is called.
  FrontEnd(const LaunchSpec& spec, std::unique_ptr<InstanceMemory> memory, SupervisorLink& link,
           ListeningSockets sockets)
      : spec_(spec),
        link_(link),
        memory_(std::move(memory)),
        view_(view_of(*memory_, link)),
        self_(static_cast<std::uint16_t>(spec.config.replicas)),
        transport_(make_transport(spec.config.transport, memory_->inboxes(), self_, memory_->fabric(), {})),
        incarnations_(memory_->fabric(), *transport_, memory_->incarnations()),
        client_(*transport_, client_options(spec, view_, memory_->fabric(), incarnations_, self_)),
        watch_([this](EndpointId replica, Incarnation incarnation) { client_.replica_died(replica, incarnation); }),
        sockets_(std::move(sockets)),
        serving_(spec.config, view_, client_) {
    const bool threads = spec.config.isolation == Isolation::kThread;
    for (std::uint16_t id = 0; !threads && id < memory_->stable_segments().size(); ++id) {
      const IncarnationSegments& segments = memory_->stable_segments()[id];
      if (!segments.empty() && segments.back().memory != nullptr) watch(EndpointId(id), segments.back());
    }
    memory_->forget_stable_segments();
  }

  absl::Status start() {
    auto loop = EventLoop::create(spec_.shared_cores ? WaitOptions::shared_core() : WaitOptions::own_core());
    if (!loop.ok()) return loop.status();
    loop_ = std::move(*loop);
    loop_->add(client_, memory_->fabric(), self_);
    if (auto status = serving_.start(std::move(sockets_)); !status.ok()) return status;
    return start_self_check();
  }

  // Runs the loop until drain() has finished or leave is asked for.
  void run() {
    const auto receive = [&](const SupervisionMessage& message, const std::vector<Descriptor>& fds) {
      if (message.has_incarnation()) begin_incarnation(message.incarnation(), fds);
      if (message.has_socket()) replace_local(fds[0]);
      if (message.has_ping()) self_check_->ask();
      if (message.has_drain()) drain();
      if (message.has_leave()) ::_exit(0);  // no answers are awaited any more
    };
    link_.watch(*loop_, receive, leave_after_loss);
    link_.send_ready();
    loop_->run();
    if (drainer_.joinable()) drainer_.join();
  }

 private:
  static InstanceView view_of(const InstanceMemory& memory, const SupervisorLink& link) {
    InstanceView view = memory.view();
    view.loss = &link.loss();
    return view;
  }

  // Pong goes out from the loop, so it proves that the loop runs and that the server answers.
  absl::Status start_self_check() {
    auto bell = Doorbell::create();
    if (!bell.ok()) return bell.status();
    answered_.emplace(*std::move(bell));
    loop_->watch(answered_->fd(), [this] {
      answered_->drain();
      link_.send(pong_message()).IgnoreError();
    });
    auto check = SelfCheck::create(serving_.server(), [this] { answered_->ring(); });
    if (!check.ok()) return check.status();
    self_check_ = *std::move(check);
    return absl::OkStatus();
  }

  // It would never exchange messages with the incarnation that it was to be told of. It holds no state, and the
  // supervisor starts the next one, to which clients have no connections yet.
  static void leave_after_loss(const absl::Status& why) {
    log_last(absl::StrCat("ends, to be started again: a message of the supervisor was lost, since clients hold all open "
                          "files (", std::string(why.message()),
                          "); let fewer clients connect, or raise the limit of open files"));
    ::_exit(1);
  }

  // If the inbox cannot be mapped (no memory), the front end exchanges no messages with that incarnation.
  void begin_incarnation(const supervision_v1::NewIncarnation& started, const std::vector<Descriptor>& fds) {
    if (started.endpoint() >= spec_.config.replicas || started.ended()) return;  // the next one begins
    auto inbox = memory_->fabric().map_inbox(fds[0].get());
    if (!inbox.ok()) {
      return log_warning(absl::StrCat("a new incarnation could not be taken up: ", inbox.status().ToString()));
    }
    const EndpointId replica(static_cast<std::uint16_t>(started.endpoint()));
    client_.begin_incarnation({replica, Incarnation(started.incarnation()), *std::move(inbox)});
    if (fds.size() < 2) return;
    if (auto stable = map_stable_segment(fds[1].get()); stable.ok()) {
      watch(replica, {Incarnation(started.incarnation()), *std::move(stable)});
    }
  }

  void watch(EndpointId replica, const IncarnationSegment& started) {
    watch_.watch(replica, started.incarnation, started.memory->bytes(), started.memory);
  }

  // Not while the server drains, which takes no new connections.
  void replace_local(const Descriptor& bound) {
    Descriptor local(::fcntl(bound.get(), F_DUPFD_CLOEXEC, 0));
    if (!local.valid()) return leave_after_loss(absl::ResourceExhaustedError(std::strerror(errno)));
    if (!drainer_.joinable()) serving_.replace_local(std::move(local));
  }

  // Shutdown waits for calls whose answers come through the loop, so it runs on a thread of its own.
  void drain() {
    if (drainer_.joinable()) return;
    drainer_ = std::thread([this] {
      serving_.drain();
      loop_->stop();
    });
  }

  const LaunchSpec& spec_;
  SupervisorLink& link_;
  std::unique_ptr<InstanceMemory> memory_;
  const InstanceView view_;
  const EndpointId self_;
  std::unique_ptr<ChannelTransport> transport_;
  PeerIncarnations incarnations_;
  SessionClient client_;
  DeathWatch watch_;
  std::unique_ptr<EventLoop> loop_;
  std::optional<Doorbell> answered_;  // rung when the server has answered self_check_
  ListeningSockets sockets_;
  Serving serving_;
  std::unique_ptr<SelfCheck> self_check_;
  std::thread drainer_;
};

}  // namespace

int run_front_end_process(LaunchSpec spec) {
  const auto link = SupervisorLink::open(spec, "front-end");
  if (link == nullptr) return 1;
  if (auto status = check_room_for_tasks(front_end_tasks()); !status.ok()) {
    link->send_failed(status);
    return 1;
  }
  auto memory = InstanceMemory::attach(spec);
  if (!memory.ok()) {
    link->send_failed(memory.status());
    return 1;
  }
  ListeningSockets sockets{Descriptor(std::exchange(spec.listen_fd, -1)), Descriptor(std::exchange(spec.socket.fd, -1))};
  spec.close_descriptors();
  FrontEnd front_end(spec, std::move(*memory), *link, std::move(sockets));
  if (auto status = front_end.start(); !status.ok()) {
    link->send_failed(status);
    return 1;
  }
  front_end.run();
  return 0;
}

}  // namespace ingot
