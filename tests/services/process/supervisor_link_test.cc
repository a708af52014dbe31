// A child without a supervisor that does not look for a while, as if it were stopped, and what has come meanwhile.
#include "services/process/supervisor_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/process/adoption.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

using Kind = SupervisionMessage::KindCase;

constexpr int kGraceMs = 1;
constexpr const char* kChild = "replica/0";

// Runs a child's link on a loop of its own. Steps are taken between two looks of the loop at its descriptors; a child
// that takes long over a step is what a stopped one is.
class Child final : private Pollable {
 public:
  Child() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    supervisor = SupervisionChannel(Descriptor(fds[0]));
    auto page = create_segment("page", 1);
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
    auto loop = EventLoop::create(WaitOptions::shared_core());
    REQUIRE(loop.ok());
    loop_ = *std::move(loop);
    loop_->add(*this);
  }

  // Takes one step each time that a word has been heard, the first at once, and one after the last ends it.
  std::vector<Kind> run(std::vector<std::function<void()>> steps) {
    steps_ = std::move(steps);
    link_->watch(*loop_, [this](const SupervisionMessage& message, std::vector<Descriptor>) {
      received_.push_back(message.kind_case());
    });
    loop_->run();
    return received_;
  }

  void connect() {
    auto connection = connect_to_child(name_, kChild);
    REQUIRE(connection.ok());
    supervisor = SupervisionChannel(std::move(connection->fd));
  }
  void send(const SupervisionMessage& message) { REQUIRE(supervisor.send(message).ok()); }
  void outlast_grace() { std::this_thread::sleep_for(std::chrono::milliseconds(2 * kGraceMs)); }

  SupervisionChannel supervisor;  // this test's end

 private:
  int poll(std::uint64_t) override {
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

TEST_CASE("an orphan that nobody adopts leaves") {
  Child child;
  CHECK(child.run({[&] { child.supervisor.close(); }}) == std::vector{Kind::kLeave});
}

TEST_CASE("who was adopted while it was stopped stays, though its grace is over when it wakes") {
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

TEST_CASE("the same if it knew the new supervisor, and sees first that its grace is over") {
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

TEST_CASE("a supervisor that adopted it and died at once leaves it an orphan with a grace of its own") {
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

TEST_CASE("what is not a message is refused, and what comes behind it is received") {
  Child child;
  const auto send_raw = [&](const std::string& bytes) {
    REQUIRE(::send(child.supervisor.fd(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  };
  const auto damage = [&] {
    send_raw("drain");
    send_raw(std::string(2 * kSupervisionMessageBytesMax, 'x'));
    send_raw(incarnation_message(0, 2).SerializeAsString());  // without its descriptors
    for (int i = 0; i < 60; ++i) send_raw(std::string(1 + i % 50, static_cast<char>(i)));
    child.send(ready_message());  // a process's own
    child.send(drain_message());
  };
  CHECK(child.run({damage}) == std::vector{Kind::kDrain});
}

}  // namespace
}  // namespace ingot
