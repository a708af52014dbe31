// What a handover carries of the instance's sockets and of a front end's inboxes.
#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/handover/handover_state.h"
#include "tests/services/handover/made_instance.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

supervision_v1::NewSocket bound(std::uint32_t binding, std::uint64_t inode) {
  supervision_v1::NewSocket message;
  message.set_binding(binding);
  message.set_device(7);
  message.set_inode(inode);
  return message;
}

TEST_CASE("a Unix socket that was bound anew replaces the one before, and is handed over") {
  Made made(2);
  HandoverState known = copy(made.spec);
  CHECK(described(known).binding() == 1);
  const Descriptor second(::fcntl(made.make(), F_DUPFD_CLOEXEC, 0)), third(::fcntl(made.make(), F_DUPFD_CLOEXEC, 0));
  CHECK(absl::IsAlreadyExists(known.keep_socket(bound(1, 9), second)));
  REQUIRE(known.keep_socket(bound(3, 9), third).ok());
  CHECK(absl::IsAlreadyExists(known.keep_socket(bound(2, 10), second)));  // an older one
  CHECK(inode(known.spec().socket.fd) == inode(third.get()));
  const HandoverState received = sent_and_received(known);
  CHECK(received.spec().socket.binding == 3);
  CHECK(received.spec().socket.file == SocketFile{7, 9});
  CHECK(inode(received.spec().socket.fd) == inode(third.get()));
  CHECK(inode(received.spec().listen_fd) == inode(made.spec.listen_fd));
}

TEST_CASE("of two Unix sockets that processes know, the one that was bound last counts") {
  Made made(2);
  HandoverState one = copy(made.spec), other = copy(made.spec);
  const Descriptor second(::fcntl(made.make(), F_DUPFD_CLOEXEC, 0));
  REQUIRE(other.keep_socket(bound(2, 9), second).ok());
  const bool first = GENERATE(true, false);
  HandoverState merged = sent_and_received(first ? one : other);
  merged.merge(sent_and_received(first ? other : one));
  CHECK(described(merged).binding() == 2);
  CHECK(inode(merged.spec().socket.fd) == inode(second.get()));
  CHECK(merged.spec().socket.file == SocketFile{7, 9});
}

TEST_CASE("of two view sockets that processes know, the one that was bound last counts") {
  Made made(2);
  const HandoverState one = copy(made.spec);
  made.spec.view_socket = {made.make(), 2, {7, 11}};
  const HandoverState other = copy(made.spec);
  CHECK(described(other).view_binding() == 2);
  const bool first = GENERATE(true, false);
  HandoverState merged = sent_and_received(first ? one : other);
  merged.merge(sent_and_received(first ? other : one));
  CHECK(described(merged).view_binding() == 2);
  CHECK(inode(merged.spec().view_socket.fd) == inode(made.spec.view_socket.fd));
  CHECK(merged.spec().view_socket.file == SocketFile{7, 11});
}

TEST_CASE("an instance without a Unix socket is handed over without one") {
  Made made(1);
  made.spec.socket = {};
  const HandoverState received = sent_and_received(copy(made.spec));
  CHECK(received.spec().socket.fd == -1);
  CHECK(described(received).binding() == 0);
}

TEST_CASE("a front end of several loops begins and is handed over with all its inboxes at once") {
  constexpr int kReplicas = 2, kLoops = 3;
  Made made(kReplicas, kLoops);
  HandoverState known = copy(made.spec), behind = copy(made.spec);
  const auto inbox = [](const HandoverState& state, int endpoint) {
    return inode(state.spec().fabric_fds[static_cast<std::size_t>(1 + endpoint)]);
  };
  Start next = made.start(kReplicas, 2, std::vector<std::uint32_t>{});
  std::vector<ino_t> begun;
  for (const Descriptor& each : next.fds) begun.push_back(inode(each.get()));
  REQUIRE(begun.size() == kLoops);
  REQUIRE(begin(known, next));
  CHECK_FALSE(begin(known, next));  // it is known
  for (int loop = 0; loop < kLoops; ++loop) {
    CHECK(inbox(known, kReplicas + loop) == begun[static_cast<std::size_t>(loop)]);
  }
  CHECK(inbox(known, 0) == inbox(behind, 0));

  Start too_few = made.start(kReplicas, 3, std::vector<std::uint32_t>{});
  too_few.fds.pop_back();
  CHECK_FALSE(begin(known, too_few));
  CHECK(known.spec().front_end_incarnation == 2);

  behind.merge(sent_and_received(known));
  CHECK(behind.spec().front_end_incarnation == 2);
  for (int loop = 0; loop < kLoops; ++loop) {
    CHECK(inbox(behind, kReplicas + loop) == begun[static_cast<std::size_t>(loop)]);
  }
}

}  // namespace
}  // namespace ingot
