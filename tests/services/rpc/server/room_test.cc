// Whom a server without room for more connections ends for a newcomer.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/services/rpc/server/gateway.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

// By a Unix socket, where what is sent is there at once, however busy the machine is.
struct Listening {
  Descriptor fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  sockaddr_un name{};
  socklen_t name_bytes = sizeof name;

  Listening() {
    name.sun_family = AF_UNIX;
    const auto* address = reinterpret_cast<sockaddr*>(&name);
    REQUIRE(::bind(fd.get(), address, sizeof name.sun_family) == 0);  // the kernel makes a name
    REQUIRE(::listen(fd.get(), 100) == 0);
    REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &name_bytes) == 0);
  }
  Descriptor connect() const {
    Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&name), name_bytes) == 0);
    ::fcntl(client.get(), F_SETFL, O_NONBLOCK);
    return client;
  }
};

// Full at once, by clients that have called.
struct FullServer {
  static ServerBounds bounds(int connections) {
    ServerBounds bounds;
    bounds.connections = connections;
    return bounds;
  }

  explicit FullServer(int connections) : harness(bounds(connections)) {
    REQUIRE(harness.server().listen(Descriptor(::dup(listening.fd.get())), Caller::Door::kUnix).ok());
  }
  std::unique_ptr<RawClient> client(const char* method) {
    auto made = std::make_unique<RawClient>(listening.connect());
    made->call(method, framed("x"));
    harness.run(*made);
    return made;
  }

  Gateway harness;
  Listening listening;
};

TEST_CASE("without descriptors accepting pauses, and goes on by itself") {
  Harness harness;
  Listening listening;
  REQUIRE(harness.server().listen(Descriptor(::dup(listening.fd.get())), Caller::Door::kUnix).ok());
  const Descriptor client = listening.connect();
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  harness.rounds();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(harness.server().connections() == 0);
  CHECK(harness.counters.accepts_delayed.get() >= 1);
  harness.pass_ms(kServerAcceptRetryMs + 1);
  CHECK(harness.server().connections() == 1);
}

TEST_CASE("a full server makes room by ending the oldest connection that never called") {
  ServerBounds bounds;
  bounds.connections = 3;
  Harness harness(bounds);
  Listening listening;
  REQUIRE(harness.server().listen(Descriptor(::dup(listening.fd.get())), Caller::Door::kUnix).ok());
  RawClient used(listening.connect());
  const auto id = used.call("/t.T/Echo", framed("x"));
  harness.run(used);
  const Descriptor idle = listening.connect();
  harness.rounds();
  const Descriptor later = listening.connect();
  harness.rounds();
  CHECK(harness.server().connections() == 3);
  RawClient fresh(listening.connect());
  const auto waiting = fresh.call("/t.T/Echo", framed("y"));
  harness.run(fresh);
  CHECK_FALSE(fresh.answer(waiting).closed);  // the others are young
  harness.pass_ms(kUncalledGraceMs + kServerAcceptRetryMs);
  harness.run(fresh, used);
  CHECK(fresh.answer(waiting).status() == 0);
  CHECK(used.answer(id).status() == 0);
  CHECK_FALSE(used.lost());
  CHECK(at_end(idle));
  CHECK_FALSE(at_end(later));
}

// Regression: a call on each of its connections made a client keep all that there may be, and newcomers out.
TEST_CASE("a full server whose connections have all called makes room by ending one that has had no call for long") {
  FullServer full(3);
  Harness& harness = full.harness;
  const auto busy = full.client("/t.T/Hold"), first = full.client("/t.T/Echo");
  harness.pass_ms(1);
  const auto second = full.client("/t.T/Echo");
  REQUIRE(harness.server().connections() == 3);
  const auto fresh = full.client("/t.T/Echo");
  harness.pass_ms(kIdleGraceMs - 2);
  harness.run(*fresh, *first);
  CHECK_FALSE(fresh->answer(1).closed);  // the others are not idle for long
  CHECK(first->goaways().empty());
  harness.pass_ms(kServerAcceptRetryMs);
  const auto late = first->call("/t.T/Echo", framed("late"));  // it does not know yet
  harness.run(*first);
  REQUIRE(first->goaways().size() == 1);
  CHECK(first->goaways()[0].first == NGHTTP2_NO_ERROR);
  CHECK(first->goaway_streams[0] == 1);
  CHECK(first->answer(late).reset == NGHTTP2_REFUSED_STREAM);
  CHECK(first->lost());
  harness.pass_ms(kLingerMs + 1);  // it keeps its socket
  harness.run(*fresh, *second);
  CHECK(fresh->answer(1).status() == 0);
  CHECK(second->goaways().empty());
  REQUIRE(harness.held.size() == 1);
  harness.held[0].finish(grpc::Status::OK);
  harness.run(*busy);
  CHECK(busy->answer(1).status() == 0);
}

TEST_CASE("a full server ends no connection while nobody waits, and none whose call has just come or just ended") {
  FullServer full(2);
  Harness& harness = full.harness;
  const auto held = full.client("/t.T/Hold"), other = full.client("/t.T/Echo");
  harness.pass_ms(kIdleGraceMs + kServerAcceptRetryMs);
  harness.run(*held, *other);
  CHECK(other->goaways().empty());
  other->call("/t.T/Echo", framed("x"));
  other->exchange();  // the server has not read it
  REQUIRE(harness.held.size() == 1);
  harness.held[0].finish(grpc::Status::OK);
  const auto fresh = full.client("/t.T/Echo");
  harness.run(*held, *other);
  harness.pass_ms(kServerAcceptRetryMs);
  harness.run(*held, *other, *fresh);
  CHECK(held->goaways().empty());
  CHECK(other->goaways().empty());
  CHECK_FALSE(fresh->answer(1).closed);
}

TEST_CASE("a full server ends an idle connection of HTTP/1.1, too") {
  FullServer full(1);
  Gateway& harness = full.harness;
  const Descriptor idle = full.listening.connect();
  const std::string head = "POST /v3/echo HTTP/1.1\r\nContent-Length: 2\r\n\r\n";
  CHECK(harness.ask(idle, head + "{}") == json_answer("200 OK", "{}"));
  const auto fresh = full.client("/t.T/Echo");
  write_all(idle, head);  // a request that has begun
  harness.pass_ms(kIdleGraceMs + kServerAcceptRetryMs);
  CHECK(harness.ask(idle, "{}") == json_answer("200 OK", "{}"));
  harness.pass_ms(kIdleGraceMs + kServerAcceptRetryMs);
  CHECK(at_end(idle));
  harness.pass_ms(kLingerMs + 1);
  harness.run(*fresh);
  CHECK(fresh->answer(1).status() == 0);
}

}  // namespace
}  // namespace ingot::rpc
