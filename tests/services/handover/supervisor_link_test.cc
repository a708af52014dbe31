// An orphan whose loop does not look at its descriptors for a while, as if it were stopped, and what it does with the
// connections and messages that have arrived meanwhile. Also: messages that it must refuse.
#include "services/handover/supervisor_link.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replication/pages/pages.h"
#include "services/handover/process_sockets.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

using Kind = SupervisionMessage::KindCase;

constexpr int kGraceMs = 1;
constexpr const char* kChild = "replica/0";
constexpr uid_t kStranger = 65534;  // nobody
constexpr int kStrangers = 3;

// While it exists, this process gets no further descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const Descriptor lowest(::dup(STDERR_FILENO));
    REQUIRE(lowest.valid());
    const rlimit now{static_cast<rlim_t>(lowest.get()), before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Runs a child's link on a loop of its own. The test's steps run as a pollable of that loop, so between two checks of
// its descriptors: a long step has the effect of a stopped process.
class Child final : private Pollable {
 public:
  explicit Child(WaitOptions wait = WaitOptions::shared_core()) {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    supervisor = SupervisionChannel(Descriptor(fds[0]));
    auto page = create_segment("page", sizeof(DaemonPage));
    REQUIRE(page.ok());
    page_ = *std::move(page);
    LaunchSpec spec;
    spec.config.name = absl::StrCat("link-test-", ::getpid());
    spec.config.orphan_grace_ms = kGraceMs;
    spec.control_fd = fds[1];
    spec.daemon_page_fd = page_.get();
    spec.fabric_fds = {page_.get()};
    name_ = spec.config.name;
    link_ = SupervisorLink::open(spec, kChild);
    REQUIRE(link_ != nullptr);
    auto loop = EventLoop::create(wait);
    REQUIRE(loop.ok());
    loop_ = *std::move(loop);
    loop_->add(*this);
  }

  // Runs step i, from 0, once i messages have been received; ends the loop once there are as many messages as steps.
  // Returns the kinds of the messages; KIND_NOT_SET stands for one that was lost.
  std::vector<Kind> run(std::vector<std::function<void()>> steps) {
    steps_ = std::move(steps);
    const auto receive = [this](const SupervisionMessage& message, std::vector<Descriptor>) {
      received_.push_back(message.kind_case());
    };
    const auto lose = [this](const absl::Status&) { received_.push_back(Kind::KIND_NOT_SET); };
    if (reports_losses) link_->watch(*loop_, receive, lose);
    else link_->watch(*loop_, receive);
    loop_->run();
    return received_;
  }

  SupervisionChannel another_supervisor() const {
    const auto sockets = find_sockets(name_);
    REQUIRE(sockets.ok());
    REQUIRE(sockets->size() == 1);
    CHECK(sockets->front().process == kChild);
    auto connection = connect_to(sockets->front());
    REQUIRE(connection.ok());
    return SupervisionChannel(std::move(connection->fd));
  }
  void connect() { supervisor = another_supervisor(); }
  void connect_as_stranger() {
    const auto sockets = find_sockets(name_);
    REQUIRE(sockets.ok());
    REQUIRE(::seteuid(kStranger) == 0);
    const auto connection = connect_to(sockets->front());
    REQUIRE(::seteuid(0) == 0);
    CHECK(connection.status().code() == absl::StatusCode::kPermissionDenied);
  }
  void send(const SupervisionMessage& message) { REQUIRE(supervisor.send(message).ok()); }
  void outlast_grace() { std::this_thread::sleep_for(std::chrono::milliseconds(2 * kGraceMs)); }

  SupervisionChannel supervisor;  // the supervisor's end of the channel, which the test holds
  bool reports_losses = false;
  int rounds = 0;  // of the loop

 private:
  int poll(std::uint64_t) override {
    ++rounds;
    if (received_.size() < taken_) return 0;
    if (taken_ < steps_.size()) steps_[taken_]();
    else loop_->stop();
    ++taken_;
    return 1;
  }
  bool readable() override { return false; }
  std::uint64_t deadline_ns() const override { return kNever; }

  std::string name_;
  Descriptor page_;
  std::unique_ptr<SupervisorLink> link_;
  std::unique_ptr<EventLoop> loop_;
  std::vector<std::function<void()>> steps_;
  std::size_t taken_ = 0;
  std::vector<Kind> received_;
};

TEST_CASE("an orphan that no supervisor adopts leaves") {
  Child child;
  CHECK(child.run({[&] { child.supervisor.close(); }}) == std::vector{Kind::kLeave});
}

TEST_CASE("an orphan that was adopted while it was stopped stays, though its grace is over when it runs again") {
  Child child;
  const auto end = [&] {
    child.send(drain_message());
    child.supervisor.close();
  };
  const auto adopt = [&] {
    child.connect();
    child.send(adopted_message());
    child.send(drain_message());
    child.outlast_grace();
  };
  CHECK(child.run({end, adopt}) == std::vector{Kind::kDrain, Kind::kDrain});
}

TEST_CASE("an orphan that a connected supervisor adopts while it is stopped stays, even if its timer comes first") {
  Child child;
  const auto change = [&] {
    child.send(drain_message());
    child.connect();
  };
  const auto adopt = [&] {
    child.send(adopted_message());
    child.send(drain_message());
    child.outlast_grace();
  };
  CHECK(child.run({change, adopt}) == std::vector{Kind::kDrain, Kind::kDrain});
}

// Another user's connection can be made by root only.
TEST_CASE("connections of another user before the supervisor's do not keep an orphan from being adopted") {
  if (::geteuid() != 0) {
    std::puts("SKIPPED: only root can connect to an orphan as another user");
    return;
  }
  Child child;
  const auto end = [&] {
    child.send(drain_message());
    child.supervisor.close();
  };
  const auto adopt = [&] {
    for (int i = 0; i < kStrangers; ++i) child.connect_as_stranger();
    child.connect();
    child.send(adopted_message());
    child.send(drain_message());
    child.outlast_grace();
  };
  CHECK(child.run({end, adopt}) == std::vector{Kind::kDrain, Kind::kDrain});
}

TEST_CASE("if the supervisor dies at once after it has adopted an orphan, the orphan's grace begins anew") {
  Child child;
  const auto end = [&] {
    child.send(drain_message());
    child.supervisor.close();
  };
  const auto adopt_and_die = [&] {
    child.connect();
    child.send(adopted_message());
    child.send(drain_message());
    child.supervisor.close();
    child.outlast_grace();
  };
  CHECK(child.run({end, adopt_and_die, [] {}}) == std::vector{Kind::kDrain, Kind::kDrain, Kind::kLeave});
}

TEST_CASE("datagrams that are not messages are refused, and the message after them is received") {
  Child child;
  const auto send_raw = [&](const std::string& bytes) {
    REQUIRE(::send(child.supervisor.fd(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  };
  const auto damage = [&] {
    send_raw("drain");
    send_raw(std::string(2 * kSupervisionMessageBytesMax, 'x'));
    send_raw(incarnation_message(0, 2).SerializeAsString());  // without its descriptors
    for (int i = 0; i < 60; ++i) send_raw(std::string(1 + i % 50, static_cast<char>(i)));
    child.send(ready_message());  // a kind that only a process sends
    child.send(drain_message());
  };
  CHECK(child.run({damage}) == std::vector{Kind::kDrain});
}

// Regression: a front end without a free descriptor dropped a new incarnation with a line of the log, and never
// exchanged a message with it.
TEST_CASE("a new incarnation for which there is no descriptor is reported as lost") {
  Child child;
  child.reports_losses = true;
  auto segment = create_segment("part", 1);
  REQUIRE(segment.ok());
  std::optional<NoDescriptors> full;
  const auto tell = [&] {
    const int fds[] = {segment->get(), segment->get()};
    REQUIRE(child.supervisor.send(incarnation_message(0, 2), fds).ok());
    child.send(drain_message());
    full.emplace();
  };
  CHECK(child.run({tell}) == std::vector{Kind::KIND_NOT_SET, Kind::kDrain});
}

// Regression: while there was no descriptor for the connection that waited, the loop took a whole core.
TEST_CASE("a connection for which there is no descriptor keeps no loop awake, and is accepted later") {
  Child child(WaitOptions{});  // it sleeps at once when it is idle, so its rounds tell how often it was woken
  std::optional<NoDescriptors> full;
  SupervisionChannel another;
  std::thread later;
  const auto connect = [&] {
    another = child.another_supervisor();
    full.emplace();
    later = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      full.reset();
      pollfd answer{another.fd(), POLLIN, 0};
      ::poll(&answer, 1, 60'000);
      child.supervisor.send(drain_message()).IgnoreError();
    });
  };
  CHECK(child.run({connect}) == std::vector{Kind::kDrain});
  later.join();
  CHECK(another.receive().message.has_failed());  // the child has a supervisor
  CHECK(child.rounds < 300);  // a loop that is woken at once again makes about 100,000
}

}  // namespace
}  // namespace ingot
