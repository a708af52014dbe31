// A server and its clients in one thread, over socket pairs, with a clock that the test turns.
#pragma once

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/rpc/server/server.h"
#include "tests/services/rpc/server/raw_client.h"
#include "transport/host/event_loop.h"

namespace ingot::rpc {

// Its methods: "/t.T/Echo" (answers with the request), "/t.T/Hold" (answers when the test says so).
class Harness {
 public:
  explicit Harness(ServerBounds bounds = {}) : bounds_(bounds) {
    methods.add("/t.T/Echo", {.unary = [this](Call call, std::string_view request) {
                  echoed.push_back(call);
                  call.send_bytes(request);
                  call.finish(grpc::Status::OK);
                }});
    methods.add("/t.T/Hold", {.unary = [this](Call call, std::string_view) { held.push_back(call); }});
  }

  // Made at the first use, when the test has added its methods.
  Server& server() {
    if (server_ == nullptr) {
      server_ = std::make_unique<Server>(
          io, Server::Options{&methods, http1, bounds_, &counters, [this] { return now_ns; }});
    }
    return *server_;
  }

  // A connection as the server sees it; the other end is the test's.
  Descriptor connect(Caller caller = {Caller::Door::kTcp, "test:1", std::nullopt}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    server().adopt(Descriptor(ends[0]), std::move(caller));
    return Descriptor(ends[1]);
  }
  std::unique_ptr<RawClient> client(Caller caller = {Caller::Door::kTcp, "test:1", std::nullopt}) {
    return std::make_unique<RawClient>(connect(std::move(caller)));
  }

  // Rounds of the server, without its clients.
  void rounds(int number = 4) {
    for (int i = 0; i < number; ++i) {
      server().poll(now_ns);
      server().flush();
    }
  }
  // Until neither side has anything to say.
  template <typename... Clients>
  void run(Clients&... clients) {
    for (int quiet = 0; quiet < 3;) {
      rounds(1);
      const bool progress = (... | clients.exchange());
      quiet = progress ? 0 : quiet + 1;
    }
  }
  // Likewise, and until the server has read all, which takes a slow machine many rounds in which nothing is said.
  template <typename... Clients>
  void run_all(Clients&... clients) {
    do run(clients...);
    while (server().readable());
  }
  void pass_ms(std::uint64_t ms) {
    now_ns += ms * 1'000'000;
    rounds();
  }

  boost::asio::io_context io{1};
  Methods methods;
  Http1Answers http1;
  ServerCounters counters;
  std::vector<Call> echoed;
  std::vector<Call> held;
  // Far from the machine's, whose time passes while a test is suspended.
  std::uint64_t now_ns = 1'000'000'000'000'000'000;

 private:
  ServerBounds bounds_;
  std::unique_ptr<Server> server_;
};

}  // namespace ingot::rpc
