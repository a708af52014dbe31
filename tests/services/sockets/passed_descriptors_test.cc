// Regression: a process that dropped a descriptor which a stranger had passed over a Unix socket waited for as long as
// the stranger's socket lingered.
#include "services/sockets/passed_descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/un.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/services/sockets/lingering_socket.h"

namespace ingot {
namespace {

using testing::does_not_linger;
using testing::LingeringSocket;

struct Pair {
  explicit Pair(int type = SOCK_STREAM) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0);
    stranger = Descriptor(ends[0]);
    own = Descriptor(ends[1]);
  }
  Descriptor stranger, own;
};

// A socket that listens under a name of the kernel's choice, and how to connect to it.
struct Listening {
  explicit Listening(int type) : type(type), fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)) {
    name.sun_family = AF_UNIX;
    REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name.sun_family) == 0);
    REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0);
    refuses = refuse_passed_descriptors(fd.get());
    REQUIRE(::listen(fd.get(), 4) == 0);
  }
  Descriptor connect() const {
    Descriptor client(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&name), size) == 0);
    return client;
  }
  Descriptor accept() const { return Descriptor(::accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

  int type;
  Descriptor fd;
  sockaddr_un name{};
  socklen_t size = sizeof name;
  bool refuses = false;
};

std::string receive(const Descriptor& socket) {
  std::array<char, 256> buffer;
  const ssize_t size = receive_bytes(socket.get(), buffer);
  return size < 0 ? std::strerror(errno) : std::string(buffer.data(), static_cast<std::size_t>(size));
}

// The last reference to the other end is dropped.
void wait_for_end(const Descriptor& socket) {
  pollfd end{socket.get(), 0, 0};
  REQUIRE(::poll(&end, 1, -1) == 1);
}

TEST_CASE("a kernel that can refuses what is passed, also before the connection is accepted, until it is allowed") {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const Listening listening(type);
    if (!listening.refuses) {
      WARN("SKIPPED: this kernel cannot refuse passed descriptors");
      return;
    }
    const Descriptor stranger = listening.connect();
    LingeringSocket waiting, accepted, allowed;
    CHECK(waiting.pass(stranger.get(), "x") == EPERM);
    Descriptor own = listening.accept();
    CHECK(accepted.pass(stranger.get(), "x") == EPERM);
    CHECK_FALSE(watch_for_descriptors(own.get()));
    allow_passed_descriptors(own.get());
    CHECK(allowed.pass(stranger.get(), "x") == 0);
    CHECK(watch_for_descriptors(own.get()));
    CHECK(does_not_linger([&] { close_unread(std::move(own)); }));
  }
}

TEST_CASE("bytes without descriptors are received in order, up to those that come with some") {
  const Pair pair;
  REQUIRE(watch_for_descriptors(pair.own.get()));
  CHECK(receive(pair.own) == std::strerror(EAGAIN));
  REQUIRE(::send(pair.stranger.get(), "ab", 2, 0) == 2);
  REQUIRE(::send(pair.stranger.get(), "c", 1, MSG_OOB) == 1);
  REQUIRE(::send(pair.stranger.get(), "d", 1, 0) == 1);
  std::string all;
  while (all.size() < 4) all += receive(pair.own);
  CHECK(all == "abcd");
  LingeringSocket lingering;
  REQUIRE(lingering.pass(pair.stranger.get(), "e") == 0);
  CHECK(does_not_linger([&] {
    for (int i = 0; i < 3; ++i) CHECK(receive(pair.own) == std::strerror(EPROTO));
  }));
}

TEST_CASE("the end of a connection is received as recv tells it") {
  Pair pair;
  REQUIRE(watch_for_descriptors(pair.own.get()));
  REQUIRE(::send(pair.stranger.get(), "x", 1, 0) == 1);
  pair.stranger.reset();
  CHECK(receive(pair.own) == "x");
  CHECK(receive(pair.own).empty());
}

TEST_CASE("close_unread does not wait for what was passed, and closes the socket") {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    Pair pair(type);
    LingeringSocket first, second;
    REQUIRE(first.pass(pair.stranger.get(), "x") == 0);
    REQUIRE(::send(pair.stranger.get(), "y", 1, 0) == 1);
    REQUIRE(second.pass(pair.stranger.get(), "z") == 0);
    CHECK(does_not_linger([&] {
      close_unread(std::move(pair.own));
      wait_for_end(pair.stranger);
    }));
  }
}

// Regression: a Unix socket in which descriptors wait may itself be passed.
TEST_CASE("close_unread does not wait for what was passed in what was passed") {
  Pair pair;
  Pair inner;
  LingeringSocket lingering;
  REQUIRE(lingering.pass(inner.stranger.get(), "x") == 0);
  REQUIRE(LingeringSocket::pass(pair.stranger.get(), "y", inner.own) == 0);
  inner.stranger.reset();
  CHECK(does_not_linger([&] {
    close_unread(std::move(pair.own));
    wait_for_end(pair.stranger);
  }));
}

TEST_CASE("close_unread of a socket that listens does not wait for what was passed to waiting connections") {
  Listening listening(SOCK_SEQPACKET);
  allow_passed_descriptors(listening.fd.get());
  const Descriptor stranger = listening.connect();
  LingeringSocket lingering;
  REQUIRE(lingering.pass(stranger.get(), "x") == 0);
  CHECK(does_not_linger([&] {
    close_unread(std::move(listening.fd));
    wait_for_end(stranger);
  }));
}

TEST_CASE("close_unread closes many sockets that are closed at once") {
  std::vector<Pair> pairs(200);
  for (Pair& each : pairs) {
    Pair passed;
    REQUIRE(LingeringSocket::pass(each.stranger.get(), "x", passed.own) == 0);
  }
  for (Pair& each : pairs) close_unread(std::move(each.own));
  for (Pair& each : pairs) wait_for_end(each.stranger);
}

TEST_CASE("close_unread without anything in the socket starts no thread, and closes it") {
  Pair pair;
  const int number = pair.own.get();
  REQUIRE(::send(pair.stranger.get(), "x", 1, 0) == 1);
  close_unread(std::move(pair.own));
  CHECK(::fcntl(number, F_GETFD) == -1);
  CHECK(::send(pair.stranger.get(), "x", 1, MSG_NOSIGNAL) == -1);  // at once, not when a thread has ended
  close_unread(Descriptor());
}

}  // namespace
}  // namespace ingot
