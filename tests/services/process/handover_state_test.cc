// What a process knows of its instance, and hands to the next supervisor, over real sockets and segments.
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/process/adoption.h"
#include "services/process/handover_state.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

ino_t inode(int fd) {
  struct stat info {};
  REQUIRE(::fstat(fd, &info) == 0);
  return info.st_ino;
}

// An instance of so many replicas with a segment for everything, and the descriptors that its creator holds.
struct Made {
  explicit Made(int replicas) {
    std::vector<int> fabric;
    for (int i = 0; i < 1 + 2 * (replicas + 1); ++i) fabric.push_back(make());
    spec.fabric = absl::StrJoin(fabric, ",");
    spec.config.name = "made";
    spec.config.replicas = replicas;
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
    auto fd = create_segment("part", 1);
    REQUIRE(fd.ok());
    owned.push_back(*std::move(fd));
    return owned.back().get();
  }
  ControlWord start(int endpoint, std::uint32_t incarnation) {
    ControlWord word;
    word.kind = ControlWord::Kind::kLife;
    word.endpoint = endpoint;
    word.incarnation = incarnation;
    const int parts = endpoint < spec.config.replicas ? 2 : 1;
    for (int i = 0; i < parts; ++i) word.fds.emplace_back(::fcntl(make(), F_DUPFD_CLOEXEC, 0));
    return word;
  }
  LaunchSpec spec;
  std::vector<Descriptor> owned;
};

// The memory that every descriptor of the document names, in its order.
std::vector<ino_t> parts(const LaunchSpec& spec) {
  std::vector<ino_t> inodes;
  LaunchSpec copy = spec;
  copy.for_each_descriptor([&](int& fd) { inodes.push_back(inode(fd)); });
  for (const std::string& fd : std::vector<std::string>(absl::StrSplit(spec.fabric, ','))) {
    inodes.push_back(inode(std::stoi(fd)));
  }
  return inodes;
}

std::vector<int> fabric_of(const LaunchSpec& spec) {
  std::vector<int> fds;
  for (const std::string& fd : std::vector<std::string>(absl::StrSplit(spec.fabric, ','))) fds.push_back(std::stoi(fd));
  return fds;
}

HandoverState copy(const LaunchSpec& spec) {
  auto known = HandoverState::copy(spec);
  REQUIRE(known.ok());
  return *std::move(known);
}

HandoverState sent_and_received(const HandoverState& known) {
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
  const Descriptor left(fds[0]), right(fds[1]);
  REQUIRE(known.send(left.get()).ok());
  HandoverStateReceiver receiver;
  for (;;) {
    const auto complete = receiver.add(receive_message(right.get()));
    REQUIRE(complete.ok());
    if (*complete) return receiver.take();
  }
}

TEST_CASE("what is sent arrives, with the same memory under other numbers") {
  Made made(3);
  const HandoverState known = copy(made.spec);
  CHECK(parts(known.spec()) == parts(made.spec));
  const HandoverState received = sent_and_received(known);
  CHECK(parts(received.spec()) == parts(made.spec));
  CHECK(received.spec().config.name == "made");
  CHECK(received.generation() == known.generation());
}

TEST_CASE("an instance of the largest size needs several datagrams") {
  Made made(48);
  for (int i = 0; i < 3; ++i) {
    for (ReplicaLaunch& launch : made.spec.replicas) launch.earlier.push_back({1u, made.make()});
  }
  REQUIRE(parts(made.spec).size() > kControlDescriptorsMax);
  CHECK(parts(sent_and_received(copy(made.spec)).spec()) == parts(made.spec));
}

TEST_CASE("a life replaces the inbox and keeps the stable segment of the life before") {
  Made made(3);
  HandoverState known = copy(made.spec);
  const ino_t first = inode(made.spec.replicas[1].stable_fd);
  const ControlWord start = made.start(1, 2);
  REQUIRE(known.begin_incarnation(start));
  const ReplicaLaunch& launch = known.spec().replicas[1];
  CHECK(launch.incarnation == 2);
  CHECK(inode(fabric_of(known.spec())[2]) == inode(start.fds[0].get()));
  CHECK(inode(launch.stable_fd) == inode(start.fds[1].get()));
  REQUIRE(launch.earlier.size() == 1);
  CHECK(launch.earlier[0].incarnation == 1);
  CHECK(inode(launch.earlier[0].stable_fd) == first);
  CHECK(known.generation() == copy(made.spec).generation() + 1);
  CHECK(parts(sent_and_received(known).spec()) == parts(known.spec()));
}

TEST_CASE("a life that is known, or of nobody here, changes nothing") {
  Made made(3);
  HandoverState known = copy(made.spec);
  REQUIRE(known.begin_incarnation(made.start(3, 4)));  // the front end
  CHECK(known.spec().front_end_incarnation == 4);
  const auto before = parts(known.spec());
  CHECK_FALSE(known.begin_incarnation(made.start(3, 4)));
  CHECK_FALSE(known.begin_incarnation(made.start(3, 2)));
  CHECK_FALSE(known.begin_incarnation(made.start(0, 1)));
  CHECK_FALSE(known.begin_incarnation(made.start(4, 2)));
  ControlWord without_stable = made.start(0, 2);
  without_stable.fds.pop_back();
  CHECK_FALSE(known.begin_incarnation(without_stable));
  CHECK(parts(known.spec()) == before);
}

TEST_CASE("lives without end need descriptors with end") {
  Made made(2);
  HandoverState known = copy(made.spec);
  std::size_t most = 0;
  for (std::uint32_t incarnation = 2; incarnation < 50; ++incarnation) {
    REQUIRE(known.begin_incarnation(made.start(1, incarnation)));
    most = std::max(most, parts(known.spec()).size());
  }
  CHECK(most <= parts(made.spec).size() + 4);
}

TEST_CASE("what the document named is closed, and the duplicates stay") {
  Made made(2);
  made.spec.snapshot_fd = made.make();
  made.spec.replicas[1].earlier.push_back({1u, made.make()});
  const HandoverState known = copy(made.spec);
  const auto before = parts(known.spec());
  std::vector<int> fds;
  made.spec.for_each_descriptor([&](int& fd) { fds.push_back(fd); });
  made.spec.close_descriptors();
  for (Descriptor& each : made.owned) {
    if (std::find(fds.begin(), fds.end(), each.get()) != fds.end()) (void)each.release();
  }
  for (const int fd : fds) CHECK(::fcntl(fd, F_GETFD) == -1);
  made.spec.for_each_descriptor([](int& fd) { CHECK(fd == -1); });
  CHECK(parts(known.spec()) == before);
}

TEST_CASE("the newest snapshot wins, and is news") {
  Made made(1);
  HandoverState known = copy(made.spec);
  const auto snapshot = [&](std::uint64_t slot) {
    ControlWord word;
    word.kind = ControlWord::Kind::kSnapshot;
    word.slot = slot;
    word.fds.emplace_back(::fcntl(made.make(), F_DUPFD_CLOEXEC, 0));
    return word;
  };
  const std::uint64_t before = known.generation();
  known.keep_snapshot(snapshot(100));
  const ino_t kept = inode(known.spec().snapshot_fd);
  known.keep_snapshot(snapshot(99));
  CHECK(known.spec().snapshot_slot == 100);
  CHECK(inode(known.spec().snapshot_fd) == kept);
  CHECK(known.generation() == before + 100);
  CHECK(parts(sent_and_received(known).spec()) == parts(known.spec()));
}

TEST_CASE("a description that is none is refused") {
  for (const char* text : {"described", "described x", "described 3", "descriptors", "ready"}) {
    HandoverStateReceiver receiver;
    ReceivedMessage message;
    message.outcome = ReceivedMessage::Outcome::kMessage;
    message.text = text;
    CAPTURE(text);
    CHECK(absl::IsInvalidArgument(receiver.add(std::move(message)).status()));
  }
  Made made(1);
  for (const int wrong : {-1, 1}) {  // fewer and more descriptors than the document has places for
    HandoverStateReceiver receiver;
    const auto document = write_launch_spec(made.spec);
    REQUIRE(document.ok());
    ReceivedMessage first, second;
    first.text = absl::StrCat("described ", static_cast<int>(parts(made.spec).size()) + wrong);
    first.fds.emplace_back(::fcntl(document->get(), F_DUPFD_CLOEXEC, 0));
    REQUIRE(receiver.add(std::move(first)).ok());
    second.text = "descriptors";
    for (std::size_t i = 0; i < parts(made.spec).size() + wrong; ++i) second.fds.emplace_back(::dup(0));
    CHECK(absl::IsInvalidArgument(receiver.add(std::move(second)).status()));
  }
}

TEST_CASE("a supervisor finds who listens, and nobody else") {
  const std::string name = absl::StrCat("test-", ::getpid());
  CHECK(absl::IsNotFound(connect_to_child(name, "replica/0").status()));
  auto listener = listen_for_supervisor(name, "replica/0");
  REQUIRE(listener.ok());
  CHECK(absl::IsAlreadyExists(listen_for_supervisor(name, "replica/0").status()));
  CHECK_FALSE(accept_supervisor(listener->get()).valid());
  const auto connection = connect_to_child(name, "replica/0");
  REQUIRE(connection.ok());
  CHECK(connection->pid == ::getpid());
  const Descriptor accepted = accept_supervisor(listener->get());
  REQUIRE(accepted.valid());
  const OrphanGreeting greeting{"1.2.3", 17, 4000};
  REQUIRE(send_message(accepted.get(), greeting.text()).ok());
  const auto heard = OrphanGreeting::parse(receive_message(connection->fd.get()).text);
  REQUIRE(heard.ok());
  CHECK((heard->version == "1.2.3" && heard->generation == 17 && heard->orphan_ms == 4000));
  CHECK_FALSE(OrphanGreeting::parse("failed 6 it has a supervisor").ok());
  CHECK_FALSE(OrphanGreeting::parse("instance 1.2.3 x 0").ok());
}

}  // namespace
}  // namespace ingot
