// The handover state that a process keeps and sends to the next supervisor, over real sockets and segments.
#include "services/handover/handover_state.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/handover/adoption.h"
#include "services/handover/process_sockets.h"
#include "tests/services/handover/made_instance.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

// The inodes of the memory behind the document's descriptors, in the document's order.
std::vector<ino_t> parts(const LaunchSpec& spec) {
  std::vector<ino_t> inodes;
  LaunchSpec copy = spec;
  copy.for_each_descriptor([&](int& fd) { inodes.push_back(inode(fd)); });
  for (const int fd : spec.fabric_fds) inodes.push_back(inode(fd));
  return inodes;
}

std::vector<std::uint32_t> earlier(const HandoverState& known, int replica) {
  std::vector<std::uint32_t> incarnations;
  for (const EarlierIncarnation& each : known.spec().replicas[static_cast<std::size_t>(replica)].earlier) {
    incarnations.push_back(each.incarnation);
  }
  return incarnations;
}

void keep_snapshot(HandoverState& known, Made& made, std::uint64_t slot) {
  supervision_v1::Snapshot published;
  published.set_slot(slot);
  known.keep_snapshot(published, Descriptor(::fcntl(made.make(), F_DUPFD_CLOEXEC, 0)));
}

TEST_CASE("a handover state that is sent arrives with the same memory under other descriptor numbers") {
  Made made(3);
  const HandoverState known = copy(made.spec);
  CHECK(parts(known.spec()) == parts(made.spec));
  const HandoverState received = sent_and_received(known);
  CHECK(parts(received.spec()) == parts(made.spec));
  CHECK(received.spec().config.name == "made");
}

TEST_CASE("an instance of the largest size needs several datagrams") {
  Made made(48);
  for (int i = 0; i < 3; ++i) {
    for (ReplicaLaunch& launch : made.spec.replicas) launch.earlier.push_back({launch.incarnation++, made.make()});
  }
  REQUIRE(parts(made.spec).size() > kSupervisionDescriptorsMax);
  CHECK(parts(sent_and_received(copy(made.spec)).spec()) == parts(made.spec));
}

TEST_CASE("a new incarnation replaces the inbox and keeps the stable segment of the one before") {
  Made made(3);
  HandoverState known = copy(made.spec);
  const ino_t first = inode(made.spec.replicas[1].stable_fd);
  const Start start = made.start(1, 2);
  REQUIRE(begin(known, start));
  const ReplicaLaunch& launch = known.spec().replicas[1];
  CHECK(launch.incarnation == 2);
  CHECK(inode(known.spec().fabric_fds[2]) == inode(start.fds[0].get()));
  CHECK(inode(launch.stable_fd) == inode(start.fds[1].get()));
  REQUIRE(launch.earlier.size() == 1);
  CHECK(launch.earlier[0].incarnation == 1);
  CHECK(inode(launch.earlier[0].stable_fd) == first);
  CHECK(parts(sent_and_received(known).spec()) == parts(known.spec()));
}

TEST_CASE("an incarnation that is not new, of no endpoint, or without its descriptors changes nothing") {
  Made made(3);
  HandoverState known = copy(made.spec);
  REQUIRE(begin(known, made.start(3, 4)));  // the front end
  CHECK(known.spec().front_end_incarnation == 4);
  const auto before = parts(known.spec());
  CHECK_FALSE(begin(known, made.start(3, 4)));
  CHECK_FALSE(begin(known, made.start(3, 2)));
  CHECK_FALSE(begin(known, made.start(0, 1)));
  CHECK_FALSE(begin(known, made.start(5, 2)));
  Start without_stable = made.start(0, 2);
  without_stable.fds.pop_back();
  CHECK_FALSE(begin(known, without_stable));
  CHECK(parts(known.spec()) == before);
}

TEST_CASE("an incarnation of the view's publisher has one inbox, and is merged like that of the front end") {
  Made made(3, 2);
  const int endpoint = view_endpoint(made.spec.config);
  HandoverState known = copy(made.spec), behind = copy(made.spec);
  const Start next = made.start(endpoint, 2, std::vector<std::uint32_t>{});
  REQUIRE(begin(known, next));
  CHECK_FALSE(begin(known, next));
  CHECK(known.spec().publisher_incarnation == 2);
  CHECK(known.spec().front_end_incarnation == 1);
  behind.merge(sent_and_received(known));
  CHECK(behind.spec().publisher_incarnation == 2);
  CHECK(inode(behind.spec().fabric_fds[static_cast<std::size_t>(1 + endpoint)]) == inode(next.fds[0].get()));
  CHECK(parts(behind.spec()) == parts(sent_and_received(behind).spec()));
}

TEST_CASE("an incarnation for which there are no descriptors changes nothing, and the state can still be handed over") {
  Made made(3);
  HandoverState known = copy(made.spec);
  const auto before = parts(known.spec());
  const Start start = made.start(1, 2);
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit reached{static_cast<rlim_t>(start.fds.back().get()), limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &reached) == 0);
  const absl::Status entered = known.begin_incarnation(start.message, start.fds);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(absl::IsResourceExhausted(entered));
  CHECK(parts(sent_and_received(known).spec()) == before);
  CHECK(begin(known, start));  // once there are descriptors again
}

TEST_CASE("a process holds the segments that the supervisor keeps, and knows which of them it lacks") {
  Made made(2);
  HandoverState known = copy(made.spec);
  for (std::uint32_t incarnation = 2; incarnation <= 20; ++incarnation) {
    REQUIRE(begin(known, made.start(1, incarnation)));
  }
  CHECK(known.spec().replicas[1].earlier.size() == 19);
  supervision_v1::KeptIncarnations kept;
  kept.set_endpoint(1);
  for (const std::uint32_t each : {3, 19}) kept.add_kept(each);
  REQUIRE(known.keep_incarnations(kept));
  CHECK(earlier(known, 1) == std::vector<std::uint32_t>{3, 19});
  REQUIRE(begin(known, made.start(1, 23, {{3, 19, 20, 22}})));  // 21 and 22 have not come here, and 22 is needed
  CHECK(earlier(known, 1) == std::vector<std::uint32_t>{3, 19, 20, 22});
  CHECK(known.spec().replicas[1].earlier[3].stable_fd == -1);
  CHECK(described(known).unknown() == 1);
  CHECK(parts(sent_and_received(known).spec()) == parts(known.spec()));
  CHECK(described(sent_and_received(known)).unknown() == 1);
  kept.set_endpoint(2);  // the front end
  CHECK_FALSE(known.keep_incarnations(kept));
}

TEST_CASE("an incarnation that ended before a process heard of it comes without an inbox, and its segment is kept") {
  Made made(2);
  HandoverState known = copy(made.spec);
  const ino_t inbox = inode(known.spec().fabric_fds[2]);
  Start ended = made.start(1, 4, {{1}});
  ended.message.set_ended(true);
  CHECK_FALSE(begin(known, ended));  // it has an inbox
  ended.fds.erase(ended.fds.begin());
  REQUIRE(begin(known, ended));
  CHECK(inode(known.spec().fabric_fds[2]) == inbox);
  const Start next = made.start(1, 5, {{1, 4}});
  REQUIRE(begin(known, next));
  CHECK(earlier(known, 1) == std::vector<std::uint32_t>{1, 4});
  CHECK(inode(known.spec().replicas[1].earlier[1].stable_fd) == inode(ended.fds[0].get()));
  CHECK(inode(known.spec().fabric_fds[2]) == inode(next.fds[0].get()));
}

// Each may have been told something that the other has not.
TEST_CASE("what two processes know is merged for each endpoint, segment and snapshot") {
  Made made(3);
  HandoverState one = copy(made.spec), other = copy(made.spec);
  const Start of_one = made.start(0, 2), of_other = made.start(1, 2), front_end = made.start(3, 6);
  REQUIRE(begin(one, of_one));
  REQUIRE(begin(other, of_other));
  REQUIRE(begin(other, front_end));
  keep_snapshot(one, made, 100);
  keep_snapshot(other, made, 70);
  // Both know the third incarnation of replica 2; the segment of the second has come to one of them only.
  const Start second = made.start(2, 2), third = made.start(2, 3);
  REQUIRE(begin(other, second));
  REQUIRE(begin(other, third));
  REQUIRE(begin(one, third));
  const ino_t snapshot = inode(one.spec().snapshot_fd);
  CHECK(described(one).unknown() == 1);
  const bool first = GENERATE(true, false);
  HandoverState merged = sent_and_received(first ? one : other);
  merged.merge(sent_and_received(first ? other : one));
  CHECK(merged.spec().replicas[0].incarnation == 2);
  CHECK(merged.spec().replicas[1].incarnation == 2);
  CHECK(inode(merged.spec().replicas[0].stable_fd) == inode(of_one.fds[1].get()));
  CHECK(inode(merged.spec().replicas[1].stable_fd) == inode(of_other.fds[1].get()));
  CHECK(inode(merged.spec().fabric_fds[1]) == inode(of_one.fds[0].get()));
  CHECK(inode(merged.spec().fabric_fds[2]) == inode(of_other.fds[0].get()));
  CHECK(merged.spec().front_end_incarnation == 6);
  CHECK(inode(merged.spec().fabric_fds[4]) == inode(front_end.fds[0].get()));
  CHECK(merged.spec().snapshot_slot == 100);
  CHECK(inode(merged.spec().snapshot_fd) == snapshot);
  CHECK(earlier(merged, 2) == std::vector<std::uint32_t>{1, 2});
  CHECK(inode(merged.spec().replicas[2].earlier[1].stable_fd) == inode(second.fds[1].get()));
  CHECK(described(merged).unknown() == 0);
}

TEST_CASE("close_descriptors closes the document's descriptors and leaves the duplicates open") {
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

TEST_CASE("the newest snapshot is kept") {
  Made made(1);
  HandoverState known = copy(made.spec);
  const auto keep = [&](std::uint64_t slot) { keep_snapshot(known, made, slot); };
  keep(100);
  const ino_t kept = inode(known.spec().snapshot_fd);
  keep(99);
  CHECK(known.spec().snapshot_slot == 100);
  CHECK(inode(known.spec().snapshot_fd) == kept);
  CHECK(described(known).snapshot_slot() == 100);
  CHECK(parts(sent_and_received(known).spec()) == parts(known.spec()));
}

std::vector<Descriptor> descriptors(std::size_t count) {
  std::vector<Descriptor> fds;
  for (std::size_t i = 0; i < count; ++i) fds.emplace_back(::dup(0));
  return fds;
}

SupervisionMessage announcement(std::size_t count) {
  SupervisionMessage message;
  message.mutable_handover_document()->set_descriptors(static_cast<std::uint32_t>(count));
  return message;
}

SupervisionMessage more_descriptors() {
  SupervisionMessage message;
  message.mutable_handover_descriptors();
  return message;
}

std::vector<Descriptor> document_of(const LaunchSpec& spec) {
  auto document = write_launch_spec(spec);
  REQUIRE(document.ok());
  std::vector<Descriptor> fds;
  fds.push_back(*std::move(document));
  return fds;
}

bool refused(const absl::StatusOr<bool>& added) { return absl::IsInvalidArgument(added.status()); }

TEST_CASE("messages that do not form a handover are refused") {
  for (const SupervisionMessage& message : {ready_message(), more_descriptors(), announcement(3)}) {
    CHECK(refused(HandoverStateReceiver().add(message, {})));
    CHECK(refused(HandoverStateReceiver().add(message, descriptors(1))));  // no document
  }
  Made made(1);
  HandoverStateReceiver receiver;
  REQUIRE(receiver.add(announcement(parts(made.spec).size()), document_of(made.spec)).ok());
  CHECK(refused(receiver.add(ready_message(), {})));
  for (const int wrong : {-1, 1}) {  // fewer and more descriptors than the document has places for
    HandoverStateReceiver other;
    const std::size_t count = parts(made.spec).size() + wrong;
    REQUIRE(other.add(announcement(count), document_of(made.spec)).ok());
    CHECK(refused(other.add(more_descriptors(), descriptors(count))));
  }
}

TEST_CASE("a supervisor finds a process that listens, and connects to it") {
  const std::string name = absl::StrCat("test-", ::getpid());
  CHECK(find_sockets(name)->empty());
  auto listener = listen_for_supervisor(name, "replica/0");
  REQUIRE(listener.ok());
  CHECK_FALSE(accept_supervisor(listener->get())->valid());
  const auto sockets = find_sockets(name);
  REQUIRE(sockets.ok());
  REQUIRE(sockets->size() == 1);
  auto connection = connect_to(sockets->front());
  REQUIRE(connection.ok());
  CHECK(connection->pid == ::getpid());
  SupervisionChannel accepted{*accept_supervisor(listener->get())};
  REQUIRE(accepted.open());
  SupervisionMessage greeting;
  greeting.mutable_orphaned()->set_version("1.2.3");
  greeting.mutable_orphaned()->add_incarnations(17);
  greeting.mutable_orphaned()->set_orphan_ms(4000);
  REQUIRE(accepted.send(greeting).ok());
  const auto received = SupervisionChannel(std::move(connection->fd)).receive();
  REQUIRE(received.message.has_orphaned());
  const supervision_v1::Orphaned& orphaned = received.message.orphaned();
  CHECK((orphaned.version() == "1.2.3" && orphaned.incarnations(0) == 17 && orphaned.orphan_ms() == 4000));
}

}  // namespace
}  // namespace ingot
