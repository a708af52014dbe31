// Channels against gRPC C++'s server: calls, statuses, deadlines, cancellation, sizes, and servers that come and go.
#include "services/rpc/client/channel.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/rpc/client/blocking_channel.h"
#include "tests/services/rpc/client/kv_server.h"
#include "tests/services/rpc/client/loop_client.h"

namespace ingot::rpc::client {
namespace {

using namespace std::chrono_literals;
using grpc::StatusCode;

TEST_CASE("a call has its answer") {
  KvServer server;
  LoopClient client(server.address());
  const Heard& heard = client.call(kPut, put_of("key", "12345"));
  REQUIRE(heard.status().ok());
  CHECK(revision_in(heard.message()) == 5);
}

TEST_CASE("IPv6, a host's name and Unix sockets") {
  const std::string folder = std::filesystem::temp_directory_path() / ("channel_test." + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const std::string& address : {std::string("[::1]:0"), std::string("localhost:0"), "unix:" + folder + "/s"}) {
    INFO(address);
    KvServer server(address);
    LoopClient client(server.address());
    CHECK(client.call(kPut, put_of("key", "123")).status().ok());
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("thousands of calls are open at once on one connection, and each has its own answer") {
  KvServer server;
  LoopClient client(server.address());
  client.connect();
  std::deque<Heard> heard;
  for (std::size_t i = 0; i < 3000; ++i) {
    client.channel().start(kPut, put_of("key", std::string(i, 'x')), {.timeout = 1h}, heard.emplace_back());
  }
  for (std::size_t i = 0; i < heard.size(); ++i) {
    client.run_until([&] { return heard[i].over(); });
    REQUIRE(heard[i].status().ok());
    REQUIRE(revision_in(heard[i].message()) == static_cast<std::int64_t>(i));
  }
}

TEST_CASE("every status arrives with its text") {
  KvServer server;
  LoopClient client(server.address());
  for (int code = 1; code <= 16; ++code) {
    const Heard& heard = client.call(kPut, put_of("code " + std::to_string(code), "100 % \xC3\xA4\n"));
    CHECK(heard.status().error_code() == code);
    CHECK(heard.status().error_message() == "100 % \xC3\xA4\n");
    CHECK(heard.message().empty());
  }
}

TEST_CASE("a method that the server does not have is UNIMPLEMENTED") {
  KvServer server;
  LoopClient client(server.address());
  CHECK(client.call("/etcdserverpb.KV/NoSuch", put_of("key")).status().error_code() == StatusCode::UNIMPLEMENTED);
}

TEST_CASE("requests and answers larger than any window pass whole, several at once") {
  KvServer server;
  LoopClient client(server.address());
  constexpr std::size_t kBytes = 5 * 1024 * 1024 + 7;
  std::deque<Heard> heard;
  for (int i = 0; i < 4; ++i) {
    client.channel().start(kPut, put_of("key", std::string(kBytes, 'x')), {}, heard.emplace_back());
    client.channel().start(kRange, range_of(kBytes), {}, heard.emplace_back());
  }
  for (const Heard& each : heard) client.run_until([&] { return each.over(); });
  for (std::size_t i = 0; i < heard.size(); ++i) {
    REQUIRE(heard[i].status().ok());
    if (i % 2 == 0) CHECK(revision_in(heard[i].message()) == kBytes);
    if (i % 2 == 1) CHECK(heard[i].message().size() > kBytes);
  }
}

TEST_CASE("an answer above the bound is RESOURCE_EXHAUSTED, and the connection goes on") {
  KvServer server;
  LoopClient client(server.address(), {.answer_bytes_max = 1000});
  CHECK(client.call(kRange, range_of(900)).status().ok());
  const grpc::Status status = client.call(kRange, range_of(2'000'000)).status();
  CHECK(status.error_code() == StatusCode::RESOURCE_EXHAUSTED);
  CHECK(client.call(kRange, range_of(900)).status().ok());
}

TEST_CASE("a call whose time is over ends, here and at the server") {
  KvServer server;
  LoopClient client(server.address());
  client.connect();
  CHECK(client.call(kPut, put_of("wait"), {.timeout = 50ms}).status().error_code() == StatusCode::DEADLINE_EXCEEDED);
  while (server.cancelled < server.waiting) std::this_thread::sleep_for(1ms);
  CHECK(client.call(kPut, put_of("key"), {.timeout = 1h}).status().ok());
}

TEST_CASE("deadlines of many calls are kept in their order, not that of their starts") {
  KvServer server;
  LoopClient client(server.address());
  client.connect();
  std::vector<int> order;
  std::deque<Heard> heard;
  for (const int ms : {300, 100, 200}) {
    Heard& each = heard.emplace_back([&order, ms] { order.push_back(ms); });
    client.channel().start(kPut, put_of("wait"), {.timeout = std::chrono::milliseconds(ms)}, each);
  }
  client.run_until([&] { return order.size() == 3; });
  CHECK(order == std::vector<int>{100, 200, 300});
  for (const Heard& each : heard) CHECK(each.status().error_code() == StatusCode::DEADLINE_EXCEEDED);
}

TEST_CASE("a cancelled call is not heard of, and ends at the server") {
  KvServer server;
  LoopClient client(server.address());
  client.connect();
  Heard never;
  const CallId call = client.channel().start(kPut, put_of("wait"), {}, never);
  client.run_until([&] { return server.waiting == 1; });
  client.channel().cancel(call);
  client.run_until([&] { return server.cancelled == 1; });
  CHECK_FALSE(never.over());
  client.channel().cancel(call);  // has no effect any more
  CHECK(client.call(kPut, put_of("key")).status().ok());
  CHECK_FALSE(never.over());
}

TEST_CASE("a call may be cancelled before it has left, and by another call's receiver") {
  KvServer server;
  LoopClient client(server.address());
  Heard never;
  client.channel().cancel(client.channel().start(kPut, put_of("key"), {}, never));  // it waits for the connection
  client.connect();
  client.channel().cancel(client.channel().start(kPut, put_of("key"), {}, never));
  CallId others[2];
  Heard first([&] {
    for (const CallId id : others) client.channel().cancel(id);
  });
  Heard second, third;
  client.channel().start(kPut, put_of("code 3"), {}, first);
  others[0] = client.channel().start(kPut, put_of("wait"), {}, second);
  others[1] = client.channel().start(kPut, put_of("wait"), {}, third);
  client.run_until([&] { return first.over(); });
  server.go_on = true;
  CHECK(client.call(kPut, put_of("key")).status().ok());
  CHECK_FALSE(never.over());
  CHECK_FALSE(second.over());
  CHECK_FALSE(third.over());
}

TEST_CASE("a receiver may start the next call") {
  KvServer server;
  LoopClient client(server.address());
  std::deque<Heard> heard;
  std::function<void()> next = [&] {
    if (heard.size() < 500) client.channel().start(kPut, put_of("key"), {}, heard.emplace_back(next));
  };
  next();
  client.run_until([&] { return heard.size() == 500 && heard.back().over(); });
  for (const Heard& each : heard) CHECK(each.status().ok());
}

TEST_CASE("without a server a call is UNAVAILABLE once the attempt has failed; a patient one waits for its time") {
  LoopClient client("127.0.0.1:1");
  const grpc::Status status = client.call(kPut, put_of("key")).status();
  CHECK(status.error_code() == StatusCode::UNAVAILABLE);
  CHECK(status.error_message() == "cannot connect to 127.0.0.1:1: Connection refused");
  CHECK(client.call(kPut, put_of("key")).status().error_code() == StatusCode::UNAVAILABLE);
  CHECK(client.call(kPut, put_of("key"), {.timeout = 100ms, .wait_for_connection = true}).status().error_code() ==
        StatusCode::DEADLINE_EXCEEDED);
}

TEST_CASE("a lost connection ends its calls with UNAVAILABLE, and the channel connects again") {
  auto server = std::make_unique<KvServer>();
  const std::string address = server->address();
  LoopClient client(address);
  client.connect();
  std::deque<Heard> heard;
  for (int i = 0; i < 3; ++i) client.channel().start(kPut, put_of("wait"), {}, heard.emplace_back());
  client.run_until([&] { return server->waiting == 3; });
  server.reset();
  for (const Heard& each : heard) {
    client.run_until([&] { return each.over(); });
    CHECK_FALSE(each.status().ok());
  }
  client.run_until([&] { return !client.channel().connected(); });
  Heard patient;
  client.channel().start(kPut, put_of("key"), {.wait_for_connection = true}, patient);
  client.run_for(100ms);
  CHECK_FALSE(patient.over());
  KvServer next(address);
  client.run_until([&] { return patient.over(); });
  CHECK(patient.status().ok());
}

TEST_CASE("a goodbye with grace lets open calls finish") {
  KvServer server;
  LoopClient client(server.address());
  client.connect();
  Heard open;
  client.channel().start(kPut, put_of("wait", "123"), {}, open);
  client.run_until([&] { return server.waiting == 1; });
  std::thread stopping([&] { server.shut_down(1h); });
  client.run_until([&] { return !client.channel().connected(); });
  server.go_on = true;
  client.run_until([&] { return open.over(); });
  stopping.join();
  REQUIRE(open.status().ok());
  CHECK(revision_in(open.message()) == 3);
}

TEST_CASE("a server that ends each connection after a while costs no call") {
  KvServer server("127.0.0.1:0", 50);
  LoopClient client(server.address());
  client.connect();
  const auto end = std::chrono::steady_clock::now() + 600ms;
  int calls = 0;
  while (std::chrono::steady_clock::now() < end) {
    const grpc::Status status = client.call(kPut, put_of("key")).status();
    INFO(status.error_message());
    REQUIRE(status.ok());
    ++calls;
  }
  CHECK(calls == server.puts);
}

TEST_CASE("a connection that has carried its number of calls is replaced, and no call fails") {
  KvServer server;
  LoopClient client(server.address(), {.connection_calls_max = 10});
  std::deque<Heard> heard;
  for (int round = 0; round < 50; ++round) {
    const std::size_t first = heard.size();
    for (int i = 0; i < 7; ++i) client.channel().start(kPut, put_of("key"), {}, heard.emplace_back());
    for (std::size_t i = first; i < heard.size(); ++i) client.run_until([&] { return heard[i].over(); });
  }
  for (const Heard& each : heard) CHECK(each.status().ok());
  CHECK(server.puts == 350);
}

TEST_CASE("a channel that goes takes its calls with it") {
  KvServer server;
  Heard never;
  {
    LoopClient client(server.address());
    client.connect();
    client.channel().start(kPut, put_of("wait"), {}, never);
    client.run_until([&] { return server.waiting == 1; });
  }
  while (server.cancelled == 0) std::this_thread::sleep_for(1ms);
  CHECK_FALSE(never.over());
}

TEST_CASE("too many open calls are refused") {
  LoopClient client("127.0.0.1:1");
  std::deque<Heard> heard;
  for (std::size_t i = 0; i <= kCallsMax; ++i) {
    client.channel().start(kPut, put_of("key"), {.wait_for_connection = true}, heard.emplace_back());
  }
  client.run_until([&] { return heard.back().over(); });
  CHECK(heard.back().status().error_code() == StatusCode::RESOURCE_EXHAUSTED);
  CHECK_FALSE(heard.front().over());
}

TEST_CASE("a blocking channel waits for answers, and sees that its server was restarted meanwhile") {
  auto server = std::make_unique<KvServer>();
  const std::string address = server->address();
  BlockingChannel channel(*resolve_target(address));
  REQUIRE(channel.connect(1h));
  etcdserverpb::PutResponse reply;
  REQUIRE(channel.call(kPut, put_of("key", "1234"), reply, {}).ok());
  CHECK(reply.header().revision() == 4);
  server.reset();
  server = std::make_unique<KvServer>(address);
  REQUIRE(channel.call(kPut, put_of("key", "12"), reply, {.wait_for_connection = true}).ok());
  CHECK(reply.header().revision() == 2);
  CHECK_FALSE(BlockingChannel(*resolve_target("127.0.0.1:1")).connect(50ms));
}

}  // namespace
}  // namespace ingot::rpc::client
