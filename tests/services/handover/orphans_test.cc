// What a new supervisor learns from processes that do not all know the same, over real sockets.
#include "services/handover/orphans.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "replication/pages/pages.h"
#include "services/config/daemon_config.h"
#include "services/handover/adoption.h"
#include "services/handover/handover_state.h"
#include "services/handover/limits.h"
#include "services/handover/supervisor_link.h"
#include "services/launch/process_signal.h"
#include "services/launch/supervision_channel.h"
#include "transport/host/event_loop.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

ino_t inode(int fd) {
  struct stat info{};
  REQUIRE(::fstat(fd, &info) == 0);
  return info.st_ino;
}

Descriptor make_segment() {
  auto fd = create_segment("part", sizeof(DaemonPage));
  REQUIRE(fd.ok());
  return *std::move(fd);
}

// The link of one process of an instance, with its loop on a thread of its own. The test is the first supervisor.
class Process {
 public:
  Process(LaunchSpec spec, const std::string& child) {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    supervisor = SupervisionChannel(Descriptor(fds[0]));
    spec.control_fd = fds[1];
    link_ = SupervisorLink::open(spec, child);
    REQUIRE(link_ != nullptr);
    auto loop = EventLoop::create(WaitOptions::shared_core());
    REQUIRE(loop.ok());
    loop_ = *std::move(loop);
    link_->watch(*loop_, [](const SupervisionMessage&, const std::vector<Descriptor>&) {});
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Process() {
    loop_->stop();
    thread_.join();
  }

  void begin(int endpoint, std::uint32_t incarnation, const Descriptor& inbox, const Descriptor& stable) {
    const int fds[] = {inbox.get(), stable.get()};
    REQUIRE(supervisor.send(incarnation_message(endpoint, incarnation), fds).ok());
  }

  SupervisionChannel supervisor;

 private:
  std::unique_ptr<SupervisorLink> link_;
  std::unique_ptr<EventLoop> loop_;
  std::thread thread_;
};

// The kernel's list without the sockets of `missed`, in the first `readings` readings.
class Disturbed {
 public:
  Disturbed(std::string missed, int readings) : missed_(std::move(missed)), left_(readings) {}
  absl::StatusOr<std::vector<InstanceSocket>> operator()(const std::string& instance) const {
    auto sockets = find_sockets(instance);
    REQUIRE(sockets.ok());
    if (left_-- > 0) std::erase_if(*sockets, [&](const InstanceSocket& each) { return each.process == missed_; });
    return sockets;
  }

 private:
  std::string missed_;
  mutable int left_;
};

void show(ProcessEntry& entry, std::uint64_t pid, std::uint64_t started) {
  entry.started.set(started);
  entry.pid.set_release(pid);
}

// False: nothing has come for so long that the test has failed elsewhere.
bool readable(int fd) {
  pollfd readable{fd, POLLIN, 0};
  return ::poll(&readable, 1, 60'000) == 1;
}

SupervisionMessage greeting_of(const HandoverState& known) {
  SupervisionMessage greeting;
  greeting.mutable_orphaned()->set_version(kIngotVersion);
  known.describe(*greeting.mutable_orphaned());
  return greeting;
}

// An orphan of its own process that is written by hand. To be made before any thread of the test.
class ForkedProcess {
 public:
  // What the new process does with its listener; the result becomes its exit code.
  using Run = absl::FunctionRef<int(int listener, HandoverState& known)>;

  ForkedProcess(const LaunchSpec& spec, const std::string& child, Run run) {
    int fds[2];
    REQUIRE(::pipe(fds) == 0);
    const Descriptor listens(fds[0]);
    Descriptor tell(fds[1]);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto listener = listen_for_supervisor(spec.config.name, child);
      auto known = HandoverState::copy(spec);
      if (!listener.ok() || !known.ok() || ::write(tell.get(), "l", 1) != 1) ::_exit(99);
      ::_exit(run(listener->get(), *known));
    }
    tell.reset();
    char byte = 0;
    REQUIRE(::read(listens.get(), &byte, 1) == 1);
  }
  ~ForkedProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // Waits until it has ended. To be called once.
  int exit_code() {
    int status = 0;
    REQUIRE(::waitpid(std::exchange(pid_, 0), &status, 0) > 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
};

// Waits for a supervisor that asks for the handover state, describes it, and waits for the supervisor's end. Returns
// the number of supervisors that have connected until then and were there when they were accepted.
int describe_once(int listener, HandoverState& known) {
  int connections = 0;
  while (readable(listener)) {
    SupervisionChannel channel(*accept_supervisor(listener));
    if (!channel.send(greeting_of(known)).ok()) continue;
    ++connections;
    if (!readable(channel.fd()) || !channel.receive().message.has_describe()) continue;
    if (!known.send(channel).ok()) break;
    readable(channel.fd());
    return connections;
  }
  return 0;
}

struct Made {
  explicit Made(int replicas) {
    spec.config.name = absl::StrCat("orphans-test-", ::getpid());
    spec.config.replicas = replicas;
    spec.config.orphan_grace_ms = 600'000;
    for (int i = 0; i < 1 + 2 * endpoints_of(spec.config); ++i) spec.fabric_fds.push_back(make());
    spec.daemon_page_fd = make();
    for (int id = 0; id < replicas; ++id) {
      ReplicaLaunch launch;
      launch.id = id;
      launch.page_fd = make();
      launch.stable_fd = make();
      spec.replicas.push_back(launch);
    }
  }
  int make() {
    owned.push_back(make_segment());
    return owned.back().get();
  }
  LaunchSpec spec;
  std::vector<Descriptor> owned;
};

}  // namespace

// Regression: of two processes that knew equally many incarnations, the first one was asked, and what only the other
// had been told was lost: the next incarnation of replica 1 or 0 then took a name that had been used, without the votes
// given under it.
TEST_CASE("when two processes know equally many incarnations, a new supervisor learns what either knows") {
  Made made(2);
  const Descriptor inbox = make_segment(), of_0 = make_segment(), of_1 = make_segment();
  Process front_end(made.spec, "front-end");
  Process replica(made.spec, "replica/0");
  front_end.begin(0, 2, inbox, of_0);
  replica.begin(1, 2, inbox, of_1);
  front_end.supervisor.close();
  replica.supervisor.close();
  auto orphans = find_orphans(made.spec.config.name);
  REQUIRE(orphans.ok());
  CHECK(orphans->processes.size() == 2);
  const LaunchSpec& known = orphans->known.spec();
  CHECK(known.replicas[0].incarnation == 2);
  CHECK(known.replicas[1].incarnation == 2);
  CHECK(inode(known.replicas[0].stable_fd) == inode(of_0.get()));
  CHECK(inode(known.replicas[1].stable_fd) == inode(of_1.get()));
}

// Regression: the kernel's list of sockets may lack one while others close, and a process that was missed counted as
// dead: its next incarnation would have run beside it.
TEST_CASE("a process that runs and is missing from the kernel's list of sockets is not taken for dead") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  Made made(2);
  Process front_end(made.spec, "front-end"), of_0(made.spec, "replica/0"), of_1(made.spec, "replica/1");
  for (Process* each : {&front_end, &of_0, &of_1}) each->supervisor.close();
  auto segment = Segment::map(made.spec.daemon_page_fd, Segment::Access::kReadWrite);
  REQUIRE(segment.ok());
  auto& page = *segment->as<DaemonPage>();
  // All three are threads of this process, so the child stands for a replica.
  const auto pid = static_cast<std::uint64_t>(child);
  const std::uint64_t started = process_start(child);
  show(page.replicas[1], pid, started);
  const std::string name = made.spec.config.name;
  const auto missed = find_orphans(name, Disturbed("replica/1", kOrphanTries));
  CHECK(absl::IsAborted(missed.status()));
  CHECK(std::string(missed.status().message()) ==
        absl::StrCat("replica 1 of \"", name, "\" (pid ", pid,
                     ") runs, but its socket is not among those of the instance; try again, or end it with kill -KILL ",
                     pid));

  show(page.replicas[1], pid, started + 1);  // another process has its pid now
  CHECK(find_orphans(name, Disturbed("replica/1", kOrphanTries))->processes.size() == 2);

  const auto own = static_cast<std::uint64_t>(::getpid());
  show(page.replicas[1], own, process_start(::getpid()));
  CHECK(find_orphans(name, Disturbed("", 0))->processes.size() == 3);

  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  show(page.replicas[1], pid, started);
  CHECK(find_orphans(name, Disturbed("replica/1", kOrphanTries))->processes.size() == 2);
}

// Regression: the new supervisor gave up when the first process that it asked for the handover state ended before it
// had answered, though another one could have answered.
TEST_CASE("a process that ends while it describes its instance is passed over") {
  Made made(2);
  // It says that it knows more incarnations of replica 0 than the launch document, so it is asked first; it then ends
  // as if it were killed just then.
  ForkedProcess dying(made.spec, "replica/1", [&](int listener, HandoverState& known) {
    SupervisionMessage greeting = greeting_of(known);
    greeting.mutable_orphaned()->set_incarnations(0, made.spec.replicas[0].incarnation + 2);
    bool asked = false;
    while (!asked && readable(listener)) {  // a supervisor that finds another process not yet orphaned may come again
      SupervisionChannel channel(*accept_supervisor(listener));
      channel.send(greeting).IgnoreError();
      asked = readable(channel.fd()) && channel.receive().message.has_describe();
    }
    return asked ? 0 : 1;
  });
  const Descriptor inbox = make_segment(), of_1 = make_segment();
  Process replica(made.spec, "replica/0");
  replica.begin(1, 2, inbox, of_1);
  replica.supervisor.close();
  auto orphans = find_orphans(made.spec.config.name);
  CHECK(dying.exit_code() == 0);
  INFO(orphans.status());
  REQUIRE(orphans.ok());
  const LaunchSpec& known = orphans->known.spec();
  CHECK(known.replicas[0].incarnation == 1);
  CHECK(known.replicas[1].incarnation == 2);
  CHECK(inode(known.replicas[1].stable_fd) == inode(of_1.get()));
}

// Regression: a process that could not send the handover state, for want of a descriptor, closed its connection. It
// counted as dead, so what only it knew was passed over, and it was adopted over the closed connection.
TEST_CASE("a process that closes its connection and lives is asked again") {
  Made made(2);
  const Descriptor inbox = make_segment(), of_0 = make_segment();
  ForkedProcess process(made.spec, "replica/1", [&](int listener, HandoverState& known) {
    std::vector<Descriptor> fds;
    for (const Descriptor* each : {&inbox, &of_0}) fds.emplace_back(::dup(each->get()));
    if (!known.begin_incarnation(incarnation_message(0, 2).incarnation(), fds).ok()) return 1;
    while (readable(listener)) {
      SupervisionChannel channel(*accept_supervisor(listener));
      if (!channel.send(greeting_of(known)).ok() || !readable(channel.fd())) continue;
      if (channel.receive().message.has_describe()) break;  // and closes the connection
    }
    return describe_once(listener, known) == 1 ? 0 : 1;
  });
  Process replica(made.spec, "replica/0");
  replica.supervisor.close();
  {
    auto orphans = find_orphans(made.spec.config.name);
    INFO(orphans.status());
    REQUIRE(orphans.ok());
    CHECK(orphans->processes.size() == 2);
    CHECK(orphans->known.spec().replicas[0].incarnation == 2);
    CHECK(inode(orphans->known.spec().replicas[0].stable_fd) == inode(of_0.get()));
  }
  CHECK(process.exit_code() == 0);
}

// Regression: another user could keep the queues of the processes full by connecting to them again and again. A new
// supervisor gave up after a second, and connected to all of them anew in each try.
TEST_CASE("a process whose queue is full for seconds is waited for, and the others remain connected") {
  constexpr int kFullS = 4;  // longer than kOrphanTries tries
  Made made(2);
  ForkedProcess other(made.spec, "replica/0", describe_once);
  ForkedProcess flooded(made.spec, "replica/1", [](int listener, HandoverState& known) {
    ::sleep(kFullS);
    return describe_once(listener, known);
  });
  const std::string name = made.spec.config.name;
  const auto sockets = find_sockets(name);
  REQUIRE(sockets.ok());
  for (const InstanceSocket& each : *sockets) {
    if (each.process != "replica/1") continue;
    for (int i = 0; i <= kSupervisorsWaitingMax; ++i) REQUIRE(connect_to(each).ok());  // closed at once, but they wait
    REQUIRE(absl::IsUnavailable(connect_to(each).status()));
  }
  {
    auto orphans = find_orphans(name);
    INFO(orphans.status());
    REQUIRE(orphans.ok());
    CHECK(orphans->processes.size() == 2);
  }
  CHECK(other.exit_code() == 1);  // connection
}

}  // namespace ingot
