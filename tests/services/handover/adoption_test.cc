// Regression: any user could stop a process of an instance for as long as he chose. He connected to its socket for the
// next supervisor, and passed a TCP socket that lingered when the process closed the connection.
#include "services/handover/adoption.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/handover/process_sockets.h"
#include "services/launch/supervision_channel.h"
#include "services/sockets/passed_descriptors.h"
#include "tests/services/sockets/lingering_socket.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

using testing::does_not_linger;
using testing::LingeringSocket;

constexpr uid_t kStranger = 65534;  // nobody

bool refuses_descriptors(const Descriptor& socket) {
  int value = 1;
  socklen_t size = sizeof value;
  constexpr int kPassRights = 83;  // SO_PASSRIGHTS
  return ::getsockopt(socket.get(), SOL_SOCKET, kPassRights, &value, &size) == 0 && value == 0;
}

struct Orphan {
  explicit Orphan(const char* what) : name(absl::StrCat(what, "-", ::getpid())) {
    auto fd = listen_for_supervisor(name, "replica/0");
    REQUIRE(fd.ok());
    listener = *std::move(fd);
  }
  InstanceSocket socket() const { return find_sockets(name)->front(); }

  std::string name;
  Descriptor listener;
};

// The kernel notes a connection's user when it is made. REQUIRES: this process is root's.
Descriptor connect_as_stranger(const InstanceSocket& socket) {
  Descriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, socket.name.data(), socket.name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + socket.name.size());
  REQUIRE(::seteuid(kStranger) == 0);
  const int connected = ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length);
  REQUIRE(::seteuid(0) == 0);
  REQUIRE(connected == 0);
  return fd;
}

bool is_root() {
  if (::geteuid() == 0) return true;
  std::puts("SKIPPED: only root can connect to an orphan as another user");
  return false;
}

TEST_CASE("an orphan's kernel refuses what a stranger passes, before and while it is accepted") {
  if (!is_root()) return;
  const Orphan orphan("refused");
  if (!refuses_descriptors(orphan.listener)) {
    WARN("SKIPPED: this kernel cannot refuse passed descriptors");
    return;
  }
  const Descriptor stranger = connect_as_stranger(orphan.socket());
  LingeringSocket lingering;
  CHECK(lingering.pass(stranger.get(), "x") == EPERM);
  CHECK_FALSE(accept_supervisor(orphan.listener.get())->valid());
}

TEST_CASE("an orphan whose kernel cannot refuse what strangers pass does not wait for it either") {
  if (!is_root()) return;
  const Orphan orphan("passed");
  allow_passed_descriptors(orphan.listener.get());  // as on an earlier kernel
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.push_back(connect_as_stranger(orphan.socket()));
    LingeringSocket lingering;
    REQUIRE(lingering.pass(strangers.back().get(), "x") == 0);
  }
  const auto supervisor = connect_to(orphan.socket());
  REQUIRE(supervisor.ok());
  Descriptor accepted;
  CHECK(does_not_linger([&] { accepted = *accept_supervisor(orphan.listener.get()); }));
  REQUIRE(accepted.valid());
  pid_t pid = 0;
  CHECK(same_user(accepted.get(), pid));
}

TEST_CASE("a supervisor's descriptors reach an orphan once it has accepted the connection, and back") {
  const Orphan orphan("wanted");
  auto connection = connect_to(orphan.socket());
  REQUIRE(connection.ok());
  SupervisionChannel supervisor(std::move(connection->fd));
  const auto segment = create_segment("part", 1);
  REQUIRE(segment.ok());
  const int fds[] = {segment->get(), segment->get()};
  if (refuses_descriptors(orphan.listener)) {
    CHECK(absl::IsUnavailable(supervisor.send(incarnation_message(0, 2), fds)));
  }
  REQUIRE(supervisor.send(adopted_message()).ok());
  SupervisionChannel child(*accept_supervisor(orphan.listener.get()));
  REQUIRE(child.open());
  REQUIRE(supervisor.send(incarnation_message(0, 2), fds).ok());
  CHECK(child.receive().message.has_adopted());
  CHECK(child.receive().fds.size() == 2);
  REQUIRE(child.send(incarnation_message(0, 2), fds).ok());
  CHECK(supervisor.receive().fds.size() == 2);
}

}  // namespace
}  // namespace ingot
