// Connections: how they begin, what else than HTTP/2 gets, and how they end.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <string>

#include "core/prng.h"
#include "tests/seeds.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

struct Listening {
  Descriptor fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  sockaddr_in name{};

  Listening() {
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    REQUIRE(::listen(fd.get(), 100) == 0);
    socklen_t size = sizeof name;
    REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0);
  }
  Descriptor connect() const {
    Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
    ::fcntl(client.get(), F_SETFL, O_NONBLOCK);
    return client;
  }
};

std::string http1(Harness& harness, const std::string& request) {
  const Descriptor client = harness.connect();
  write_all(client, request);
  harness.rounds();
  const std::string answer = read_all(client);
  CHECK(at_end(client));
  return answer;
}

TEST_CASE("HTTP/1.1 gets health and version, and a sentence for anything else") {
  Harness harness;
  std::string query = "not asked";
  harness.http1["/health"] = [&query](std::string_view asked) {
    query = asked;
    return Http1Answer{200, R"({"health":"true"})"};
  };
  harness.http1["/livez"] = [](std::string_view) { return Http1Answer{503, "no\n", "text/plain"}; };
  harness.http1["/version"] = [](std::string_view) { return Http1Answer{200, R"({"etcdserver":"3.4"})"}; };
  const std::string health = http1(harness, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(health.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(health.ends_with("\r\n\r\n{\"health\":\"true\"}"));
  CHECK(query.empty());
  CHECK(http1(harness, "GET /health?exclude=NOSPACE&x=a?b HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(query == "exclude=NOSPACE&x=a?b");
  CHECK(http1(harness, "GET /version?x=1 HTTP/1.0\r\n\r\n").ends_with(R"({"etcdserver":"3.4"})"));
  CHECK(http1(harness, "HEAD /health HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
  const std::string live = http1(harness, "GET /livez HTTP/1.1\r\n\r\n");
  CHECK(live.starts_with("HTTP/1.1 503 "));
  CHECK(live.find("Content-Type: text/plain\r\n") != std::string::npos);
  CHECK(live.ends_with("\r\n\r\nno\n"));
  for (const std::string other : {"GET / HTTP/1.1\r\n\r\n", "POST /health HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
                                  "PUT /v2/keys/a HTTP/1.1\r\n\r\n", "GET /health HTTP\r\n\r\n"}) {
    INFO(other);
    CHECK(http1(harness, other).find("This port speaks gRPC") != std::string::npos);
  }
  CHECK(http1(harness, "GET /" + std::string(9'000, 'x')).find("too long") != std::string::npos);
  harness.pass_ms(kLingerMs + 1);
  CHECK(harness.server().connections() == 0);
}

TEST_CASE("random bytes are neither: the connection ends at once") {
  Harness harness;
  Prng prng(testing::drawn_seed());
  for (int i = 0; i < 200; ++i) {
    std::string bytes(static_cast<std::size_t>(30 + prng.below(2000)), ' ');
    for (char& byte : bytes) byte = static_cast<char>(prng.below(256));
    const Descriptor client = harness.connect();
    write_all(client, bytes);
    harness.rounds();
    CHECK(at_end(client));
  }
  CHECK(harness.server().connections() == 0);
  CHECK(harness.counters.ended_malformed.get() > 190);
}

TEST_CASE("random bytes behind a preface end the connection or wait for their end; others go on") {
  Harness harness;
  auto ordinary = harness.client();
  Prng prng(testing::drawn_seed());
  std::vector<Descriptor> clients;
  for (int i = 0; i < 100; ++i) {
    std::string bytes = std::string(kClientPreface) + settings_frame();
    for (int j = 0; j < 500; ++j) bytes.push_back(static_cast<char>(prng.below(256)));
    clients.push_back(harness.connect());
    write_all(clients.back(), bytes);
    harness.rounds(1);
  }
  const auto id = ordinary->call("/t.T/Echo", framed("x"));
  harness.run(*ordinary);
  CHECK(ordinary->answer(id).status() == 0);
}

TEST_CASE("a preface that is not completed ends with its time, and so does a silent connection") {
  Harness harness;
  const Descriptor half = harness.connect();
  const Descriptor silent = harness.connect();
  const Descriptor request = harness.connect();
  const Descriptor without_settings = harness.connect();
  write_all(half, kClientPreface.substr(0, 20));
  write_all(without_settings, kClientPreface);
  write_all(request, "GET /health HTT");
  harness.rounds();
  harness.pass_ms(kPrefaceTimeoutMs - 1'000);
  CHECK(harness.server().connections() == 4);
  harness.pass_ms(1'100);
  CHECK(harness.server().connections() == 0);
  CHECK(harness.counters.ended_silent.get() == 4);
}

// Regression: on a busy machine a client's first connection was closed, although its preface had come.
TEST_CASE("a preface that came in time counts, also if the loop could not read it before the time was up") {
  Harness harness;
  const Descriptor silent = harness.connect();
  const Descriptor half = harness.connect();
  auto client = harness.client();
  const Descriptor request = harness.connect();
  write_all(half, kClientPreface.substr(0, 20));
  write_all(request, "GET /health HTTP/1.1\r\n\r\n");
  const auto id = client->call("/t.T/Echo", framed("x"));
  client->exchange();
  harness.pass_ms(kPrefaceTimeoutMs + 1);
  harness.run(*client);
  CHECK(client->answer(id).status() == 0);
  CHECK(read_all(request).starts_with("HTTP/1.1 "));
  CHECK(at_end(silent));
  CHECK(at_end(half));
  CHECK(harness.counters.ended_silent.get() == 2);
}

TEST_CASE("a peer that has gone before its answer is written ends its connection, and nothing else") {
  Harness harness;
  auto other = harness.client();
  Descriptor gone = harness.connect();
  write_all(gone, std::string(kClientPreface) + settings_frame() +
                      frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1,
                            header_block(RawClient::grpc_headers("/t.T/Echo"))) +
                      frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, framed("x")));
  gone.reset();
  harness.rounds();
  CHECK(harness.echoed.size() == 1);
  CHECK(harness.server().connections() == 1);
  const auto id = other->call("/t.T/Echo", framed("y"));
  harness.run(*other);
  CHECK(other->answer(id).status() == 0);
}

TEST_CASE("a preface may come byte by byte") {
  Harness harness;
  Descriptor client = harness.connect();
  for (const char byte : std::string(kClientPreface) + settings_frame()) {
    write_all(client, std::string(1, byte));
    harness.rounds(1);
  }
  const std::string answer = read_all(client);
  CHECK(answer.find(frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "")) != std::string::npos);
}

// Regression: a round went on until every connection that waited was accepted, and clients waited for as long.
TEST_CASE("a round accepts few of the connections that wait, and the next ones the others") {
  Harness harness;
  Listening listening;
  REQUIRE(harness.server().listen(Descriptor(::dup(listening.fd.get())), Caller::Door::kTcp).ok());
  harness.rounds();
  std::vector<Descriptor> waiting;
  for (int i = 0; i < 5 * kAcceptsPerRound; ++i) waiting.push_back(listening.connect());
  std::size_t before = 0;
  for (int round = 0; harness.server().connections() < waiting.size() && round < 100; ++round) {
    harness.rounds(1);
    CHECK(harness.server().connections() <= before + kAcceptsPerRound);
    CHECK((harness.server().readable() || harness.server().connections() == waiting.size()));  // it does not sleep
    before = harness.server().connections();
  }
  CHECK(before == waiting.size());
}

// Regression: a client waited for its turn behind all connections that had just been made, each of which costs as much
// as many calls.
TEST_CASE("a client that has called is read before connections that have not, few of which a round reads") {
  Harness harness;
  auto ordinary = harness.client();
  ordinary->call("/t.T/Echo", framed("first"));
  harness.run(*ordinary);
  REQUIRE(harness.echoed.size() == 1);
  std::vector<Descriptor> fresh;
  for (int i = 0; i < 10 * kNewcomerTurnsPerRound; ++i) {
    fresh.push_back(harness.connect());
    write_all(fresh.back(), std::string(kClientPreface) + settings_frame());
  }
  ordinary->call("/t.T/Echo", framed("second"));
  ordinary->exchange();
  const std::uint64_t reads = harness.counters.reads.get();
  harness.rounds(1);
  CHECK(harness.echoed.size() == 2);
  CHECK(harness.counters.reads.get() <= reads + kNewcomerTurnsPerRound + 1);
  harness.rounds(40);
  for (const Descriptor& each : fresh) CHECK_FALSE(read_all(each).empty());  // and all have their turn
}

TEST_CASE("a caller by TCP has its address, and one by a Unix socket its credentials") {
  Harness harness;
  Listening listening;
  REQUIRE(harness.server().listen(Descriptor(::dup(listening.fd.get())), Caller::Door::kTcp).ok());
  RawClient client(listening.connect());
  client.call("/t.T/Hold", framed(""));
  harness.run(client);
  REQUIRE(harness.held.size() == 1);
  CHECK(harness.held[0].caller().address.starts_with("127.0.0.1:"));
  CHECK_FALSE(harness.held[0].caller().credentials.has_value());
  CHECK(harness.server().listen(Descriptor(::dup(0)), Caller::Door::kTcp).code() == absl::StatusCode::kInvalidArgument);
}

// Regression: the rest of a long request was answered, too, and the account of what waits for clients grew with each.
TEST_CASE("an HTTP/1.1 request is answered once, and what follows it is in no account") {
  Harness harness;
  harness.http1["/health"] = [](std::string_view) { return Http1Answer{200, "true"}; };
  for (int i = 0; i < 10; ++i) {
    const Descriptor client = harness.connect();
    write_all(client, "POST /health HTTP/1.1\r\n\r\n" + std::string(40'000, 'x') + "\r\n\r\n");
    harness.rounds();
  }
  harness.pass_ms(kLingerMs + 1);
  CHECK(harness.server().connections() == 0);
  CHECK(harness.server().held_bytes() == 0);
}

TEST_CASE("a server that has ended has no connections, and its calls may still be used") {
  Harness harness;
  auto client = harness.client();
  client->call("/t.T/Hold", framed(""));
  harness.run(*client);
  REQUIRE(harness.held.size() == 1);
  harness.server().end();
  harness.server().end();
  CHECK(harness.server().connections() == 0);
  CHECK_FALSE(harness.held[0].open());
  harness.held[0].send_bytes("nothing");
  harness.held[0].finish(grpc::Status::OK);
  harness.rounds();
  CHECK(harness.server().open_calls() == 0);
}

}  // namespace
}  // namespace ingot::rpc
