// Regression: a client at the Unix socket that passed a TCP socket which lingers stopped the loop of all clients for as
// long as it chose: when the loop read the bytes that came with it, or closed the connection.
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <string>

#include "services/sockets/passed_descriptors.h"
#include "services/sockets/unix_listener.h"
#include "tests/services/rpc/server/harness.h"
#include "tests/services/sockets/lingering_socket.h"
#include "tests/services/sockets/short_folder.h"

namespace ingot::rpc {
namespace {

using testing::does_not_linger;
using testing::LingeringSocket;

// The server's end is closed by a thread, which may not have ended yet.
bool ends(const Descriptor& socket) {
  pollfd end{socket.get(), 0, 0};
  return ::poll(&end, 1, -1) == 1 && at_end(socket);
}

const Caller kByUnix{Caller::Door::kUnix, "unix:", std::nullopt};

// Socket pairs take passed descriptors, as all sockets do on a kernel that cannot refuse them.
struct Attacked : Harness {
  Attacked() : attacker(connect(kByUnix)), other(client(kByUnix)) {}

  void require_dropped() {
    CHECK(does_not_linger([&] {
      const auto id = other->call("/t.T/Echo", framed("x"));
      run(*other);
      CHECK(other->answer(id).status() == 0);
    }));
    CHECK(ends(attacker));
    CHECK(server().connections() == 1);
  }

  Descriptor attacker;
  std::unique_ptr<RawClient> other;
  LingeringSocket lingering;
};

TEST_CASE("a descriptor that comes with a connection's first bytes ends the connection and holds up no other") {
  Attacked attacked;
  REQUIRE(attacked.lingering.pass(attacked.attacker.get(), "PRI * ") == 0);
  attacked.require_dropped();
}

TEST_CASE("a descriptor that comes behind other bytes ends the connection and holds up no other") {
  Attacked attacked;
  write_all(attacked.attacker, std::string(kClientPreface) + settings_frame());
  attacked.rounds();
  CHECK_FALSE(read_all(attacked.attacker).empty());
  write_all(attacked.attacker, frame(NGHTTP2_PING, 0, 0, "01234567"));
  REQUIRE(attacked.lingering.pass(attacked.attacker.get(), "more") == 0);
  attacked.require_dropped();
}

TEST_CASE("a descriptor that was never read holds up neither the connection's end nor the server's") {
  Attacked attacked;
  const Descriptor silent = attacked.connect(kByUnix);
  attacked.rounds();
  attacked.other.reset();
  REQUIRE(attacked.lingering.pass(silent.get(), "x") == 0);
  LingeringSocket another;
  REQUIRE(another.pass(attacked.attacker.get(), "x") == 0);
  CHECK(does_not_linger([&] { attacked.server().end(); }));
  CHECK(ends(silent));
  CHECK(ends(attacked.attacker));
}

TEST_CASE("where descriptors may come, ordinary clients are served all the same") {
  Harness harness;
  const auto client = harness.client(kByUnix);
  const std::string large(1'000'000, 'x');
  const auto id = client->call("/t.T/Echo", framed(large));
  harness.run(*client);
  CHECK(client->answer(id).status() == 0);
  CHECK(client->answer(id).body == framed(large));
  client->socket().reset();
  harness.rounds();
  CHECK(harness.server().connections() == 0);
}

Descriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

// `earlier`: as on a kernel that cannot refuse descriptors.
void attack_listener(bool earlier) {
  const ShortFolder folder;
  auto listener = UnixListener::bind(folder / "a.sock", {});
  REQUIRE(listener.ok());
  if (earlier) allow_passed_descriptors(listener->fd());
  Harness harness;
  REQUIRE(harness.server().listen(Descriptor(::dup(listener->fd())), Caller::Door::kUnix).ok());
  const Descriptor waiting = connect_to(listener->path()), accepted = connect_to(listener->path());
  LingeringSocket first, second;
  const int refused = first.pass(waiting.get(), "x");
  if (refused == 0 && !earlier) WARN("this kernel cannot refuse passed descriptors");
  else CHECK(refused == (earlier ? 0 : EPERM));
  CHECK(does_not_linger([&] { harness.rounds(); }));
  CHECK(second.pass(accepted.get(), "x") == refused);
  RawClient other(connect_to(listener->path()));
  CHECK(does_not_linger([&] {
    const auto id = other.call("/t.T/Echo", framed("x"));
    harness.run(other);
    CHECK(other.answer(id).status() == 0);
  }));
  CHECK(harness.server().connections() == (refused == 0 ? 1 : 3));
}

TEST_CASE("at an instance's Unix socket the kernel refuses descriptors") { attack_listener(false); }

TEST_CASE("at an instance's Unix socket descriptors end the connection if the kernel cannot refuse them") {
  attack_listener(true);
}

}  // namespace
}  // namespace ingot::rpc
