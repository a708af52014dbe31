// The metrics port's server against clients that do what they should not.
#include "services/metrics/http_server.h"

#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "services/metrics/limits.h"
#include "tests/services/metrics/http_client.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

constexpr std::chrono::hours kNever{1};
constexpr HttpServerBounds kNoTimeouts{.request_timeout = kNever, .answer_timeout = kNever};

constexpr const char* kType = "text/plain; version=0.0.4; charset=utf-8";

// /metrics, and a thing that is not well.
rpc::Http1Answers answers(std::function<std::string()> text) {
  return {
      {"/metrics",
       [text = std::move(text)](std::string_view) { return rpc::Http1Answer{200, text(), kType}; }},
      {"/livez", [](std::string_view query) { return rpc::Http1Answer{503, std::string(query) + "\n", "text/plain"}; }},
  };
}

std::unique_ptr<HttpServer> serve(HttpServerBounds bounds = kNoTimeouts, std::string text = "things 1\n") {
  auto server = HttpServer::start("127.0.0.1:0", answers([text = std::move(text)] { return text; }), bounds);
  REQUIRE(server.ok());
  return *std::move(server);
}

TEST_CASE("the text is at /metrics, and HEAD gets its head only") {
  const auto server = serve();
  for (const char* target : {"/metrics", "/metrics?name=things", "http://here:9464/metrics", "HTTP://h/metrics?a"}) {
    const std::string answer = ask(server->port(), std::string("GET ") + target + " HTTP/1.1\r\nHost: here\r\n\r\n");
    CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n") && EndsWith("\r\n\r\nthings 1\n"));
    CHECK_THAT(answer, Contains("Content-Type: text/plain; version=0.0.4") && Contains("Content-Length: 9\r\n"));
    CHECK_THAT(answer, Contains("Connection: close\r\n"));
  }
  const std::string head = ask(server->port(), "HEAD /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  CHECK_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n") && Contains("Content-Length: 9\r\n") && EndsWith("\r\n\r\n"));
}

TEST_CASE("what is no request for the text gets an error with a sentence, and the next client its answer") {
  const auto server = serve();
  struct Row {
    std::string request, status, sentence;
  };
  const std::string long_request = "GET /metrics HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n";
  const Row rows[] = {
      {"GET / HTTP/1.1\r\n\r\n", "404", "There is nothing here; the metrics are at /metrics.\n"},
      {"GET http://metrics HTTP/1.1\r\n\r\n", "404", "at /metrics.\n"},
      {"GET http://here/ HTTP/1.1\r\n\r\n", "404", "at /metrics.\n"},
      {"GET /metricsX HTTP/1.1\r\n\r\n", "404", "at /metrics.\n"},
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "404", "at /metrics.\n"},
      {"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405", "can only be read: GET /metrics.\n"},
      {"POST /livez HTTP/1.1\r\n\r\n", "405", "can only be read: GET /livez.\n"},
      {"GET /livez?a=b?c&d HTTP/1.1\r\n\r\n", "503", "a=b?c&d\n"},
      {"GET http://here/livez?a HTTP/1.1\r\n\r\n", "503", "\r\n\r\na\n"},
      {"DELETE /metrics HTTP/1.1\r\n\r\n", "405", "can only be read: GET /metrics.\n"},
      {long_request, "431", "longer than 8192 bytes; send GET /metrics.\n"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400", "no HTTP/1 request (bad version); send GET /metrics.\n"},
      {std::string("\x16\x03\x01\x02\x00\x01", 6) + std::string(100, '\0'), "400", "send GET /metrics.\n"},
      {"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", "400", "send GET /metrics.\n"},
  };
  for (const Row& row : rows) {
    INFO(row.request.substr(0, 40));
    const std::string answer = ask(server->port(), row.request);
    CHECK_THAT(answer, StartsWith("HTTP/1.1 " + row.status + " ") && EndsWith(row.sentence));
    CHECK(scrape(server->port()) == "things 1\n");
  }
}

TEST_CASE("a client that leaves in the midst of its request ends nothing but its own connection") {
  const auto server = serve();
  { const HttpClient silent(server->port()); }
  HttpClient half(server->port());
  half.send("GET /met");
  half.end_sending();
  CHECK_THAT(half.receive(), StartsWith("HTTP/1.1 400 "));
  CHECK(scrape(server->port()) == "things 1\n");
}

TEST_CASE("silent and half-sent connections end by themselves, with a sentence") {
  HttpServerBounds bounds = kNoTimeouts;
  bounds.request_timeout = std::chrono::milliseconds(20);
  const auto server = serve(bounds);
  HttpClient silent(server->port()), half(server->port());
  half.send("GET /metrics HTTP/1.1\r\nHos");
  for (HttpClient* client : {&silent, &half}) {
    CHECK_THAT(client->receive(), StartsWith("HTTP/1.1 408 ") && EndsWith("in time; send GET /metrics.\n"));
  }
}

TEST_CASE("connections beyond the bound end the oldest ones, and a scraper is answered") {
  constexpr int kBeyond = 20;
  const auto server = serve();
  std::vector<HttpClient> clients;
  for (int i = 0; i < kMetricsConnectionsMax + kBeyond; ++i) {
    clients.emplace_back(server->port());
    if (i % 2 == 0) clients.back().send("GET /metrics HTTP/1.1\r\n");
  }
  CHECK(scrape(server->port()) == "things 1\n");
  // The scraper was accepted after all of them, so it made one more of the oldest end.
  for (std::size_t i = 0; i < clients.size(); ++i) {
    INFO("connection " << i);
    if (i <= kBeyond) CHECK(clients[i].receive() == "");
    else CHECK(!clients[i].heard());
  }
}

// Regression: many connections from one address ended those of others.
TEST_CASE("the address with the most connections loses its oldest one") {
  const auto server = serve();
  HttpClient first(server->port(), "127.0.0.3"), second(server->port(), "127.0.0.3");
  std::vector<HttpClient> many;
  for (int i = 0; i < 2 * kMetricsConnectionsMax; ++i) many.emplace_back(server->port(), "127.0.0.2");
  CHECK(many.front().receive() == "");
  for (HttpClient* client : {&first, &second}) {
    client->send("GET /metrics HTTP/1.0\r\n\r\n");
    CHECK_THAT(client->receive(), EndsWith("things 1\n"));
  }
}

// Regression: when a connection was overdue at the moment in which a part of its request had been read, nothing was
// cancelled, and it had no deadline any more.
TEST_CASE("a connection that is overdue while its request is being read ends") {
  HttpServerBounds bounds;
  bounds.request_timeout = std::chrono::seconds(4);
  bounds.answer_timeout = std::chrono::seconds(4);
  std::binary_semaphore asked{0}, go_on{0};
  std::atomic<bool> waits{false};
  auto server = HttpServer::start(
      "127.0.0.1:0",
      answers([&] {
        if (waits.exchange(false)) {
          asked.release();
          go_on.acquire();
        }
        return std::string("things 1\n");
      }),
      bounds);
  REQUIRE(server.ok());
  HttpClient half((*server)->port());
  scrape((*server)->port());  // `half` is accepted now
  waits = true;
  HttpClient other((*server)->port());
  other.send("GET /metrics HTTP/1.0\r\n\r\n");
  asked.acquire();  // the server's thread waits
  // The first read takes 512 bytes. When the thread goes on, it finds them first, then the deadline, then the rest.
  half.send("GET /metrics HTTP/1.1\r\nX: " + std::string(600, 'x'));
  std::this_thread::sleep_for(bounds.request_timeout);
  go_on.release();
  CHECK_THAT(other.receive(), EndsWith("things 1\n"));
  half.receive();  // until the server has ended it
}

TEST_CASE("a client that does not read its answer delays no other, and is ended") {
  const std::string large(64 << 20, 'x');  // more than the kernel's buffers hold
  HttpServerBounds bounds = kNoTimeouts;
  bounds.answer_timeout = std::chrono::seconds(1);
  const auto server = serve(bounds, large);
  HttpClient idle(server->port());
  idle.send("GET /metrics HTTP/1.1\r\n\r\n");
  CHECK_THAT(ask(server->port(), "GET /else HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  pollfd ended{idle.fd(), POLLRDHUP, 0};  // it still has not read a byte
  REQUIRE(::poll(&ended, 1, -1) == 1);
  CHECK(idle.receive().size() < large.size());
}

// Sockets of this machine whose own port and peer's port are these. A reading of the kernel's list may miss one while
// others end, so only what several readings miss is gone.
bool kernel_has_connection(int port, int peer_port) {
  char ports[64];
  std::snprintf(ports, sizeof ports, ":%04X 0100007F:%04X ", static_cast<unsigned>(port),
                static_cast<unsigned>(peer_port));
  for (int i = 0; i < 5; ++i) {
    std::ifstream list("/proc/net/tcp");
    for (std::string line; std::getline(list, line);) {
      if (line.find(ports) != std::string::npos) return true;
    }
  }
  return false;
}

const std::string kHalfTaken(8 << 10, 'x');  // more than the buffer of such a client holds, and less than the server's

// A client that has asked and ended its sending, and to which the answer is on its way.
HttpClient half_closed(int port) {
  HttpClient client(0);
  const int small = 1;
  REQUIRE(::setsockopt(client.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
  client.connect(port);
  client.send("GET /metrics HTTP/1.1\r\n\r\n");
  client.end_sending();
  pollfd answered{client.fd(), POLLIN, 0};
  REQUIRE(::poll(&answered, 1, -1) == 1);
  return client;
}

// Regression: a client that ends its sending at once and does not read was no longer overdue when the server had closed
// the connection, and the kernel kept its answer for minutes.
TEST_CASE("an answer that a half-closed connection does not take is dropped by the kernel, too") {
  HttpServerBounds bounds = kNoTimeouts;
  bounds.answer_timeout = std::chrono::milliseconds(500);
  const auto server = serve(bounds, kHalfTaken);
  HttpClient client = half_closed(server->port());
  while (kernel_has_connection(server->port(), client.port())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(client.receive().size() < kHalfTaken.size());
}

// Regression: a half-closed connection that did not take its answer was closed and did not count any more, while the
// kernel kept the answer.
TEST_CASE("half-closed connections that do not take their answers count until they have") {
  HttpServerBounds bounds = kNoTimeouts;
  bounds.connections = 2;
  const auto server = serve(bounds, kHalfTaken);
  std::vector<HttpClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(half_closed(server->port()));
  CHECK(scrape(server->port()) == kHalfTaken);
  int kept = 0;
  for (const HttpClient& client : clients) kept += kernel_has_connection(server->port(), client.port()) ? 1 : 0;
  CHECK(kept <= bounds.connections);
}

TEST_CASE("a half-closed connection that takes its answer late gets all of it, and ends") {
  const auto server = serve(kNoTimeouts, kHalfTaken);
  HttpClient client = half_closed(server->port());
  std::this_thread::sleep_for(std::chrono::milliseconds(3 * kMetricsTakenPollMs));
  CHECK_THAT(client.receive(), EndsWith("\r\n\r\n" + kHalfTaken));
  while (kernel_has_connection(server->port(), client.port())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

TEST_CASE("without a descriptor for them connections wait, and are accepted once there is one") {
  const auto server = serve();
  HttpClient client(0);
  rlimit before{}, none{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  none = before;
  none.rlim_cur = static_cast<rlim_t>(client.fd()) + 1;  // the highest one in use
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  client.connect(server->port());
  client.send("GET /metrics HTTP/1.0\r\n\r\n");
  pollfd answered{client.fd(), POLLIN, 0};
  const int early = ::poll(&answered, 1, 3 * kMetricsAcceptRetryMs);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(early == 0);
  CHECK_THAT(client.receive(), EndsWith("things 1\n"));
}

TEST_CASE("an address that cannot be listened on is refused with the cause") {
  const rpc::Http1Answers text;
  const auto server = serve();
  const auto taken = HttpServer::start("127.0.0.1:" + std::to_string(server->port()), text);
  CHECK(taken.status().code() == absl::StatusCode::kAlreadyExists);
  CHECK_THAT(std::string(taken.status().message()), Contains("in use"));
  for (const char* wrong : {"9464", "nowhere.invalid:0", "127.0.0.1:x"}) {
    CHECK(HttpServer::start(wrong, text).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace ingot
