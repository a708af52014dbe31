// Channels against servers that refuse, break off, or speak something else.
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "tests/services/rpc/client/kv_server.h"
#include "tests/services/rpc/client/loop_client.h"
#include "tests/services/rpc/client/scripted_server.h"

namespace ingot::rpc::client {
namespace {

using namespace std::chrono_literals;
using grpc::StatusCode;
using Script = ScriptedServer::Script;

const std::string kEmptyMessage(5, '\0');

TEST_CASE("a server that answers by hand is understood") {
  ScriptedServer server(
      Script{.request = [](ScriptedServer& s, std::int32_t stream) { s.answer(stream, kEmptyMessage); }});
  LoopClient client(server.address());
  for (int i = 0; i < 3; ++i) CHECK(client.call(kPut, put_of("key")).status().ok());
  CHECK(server.connections() == 1);
}

TEST_CASE("a connection that breaks off ends all calls with UNAVAILABLE and the reason") {
  int seen = 0;
  ScriptedServer server(Script{.request = [&](ScriptedServer& s, std::int32_t) {
    if (++seen == 3) s.close();
  }});
  LoopClient client(server.address());
  client.connect();
  std::deque<Heard> heard;
  for (int i = 0; i < 3; ++i) client.channel().start(kPut, put_of("key"), {}, heard.emplace_back());
  for (const Heard& each : heard) {
    client.run_until([&] { return each.over(); });
    CHECK(each.status().error_code() == StatusCode::UNAVAILABLE);
    CHECK(each.status().error_message().find("the connection to " + server.address() + " was lost: ") == 0);
  }
}

TEST_CASE("a goodbye refuses the calls above its stream, and answers the others") {
  std::vector<std::int32_t> streams;
  ScriptedServer server(Script{.request = [&](ScriptedServer& s, std::int32_t stream) {
    streams.push_back(stream);
    if (streams.size() < 3) return;
    s.goaway(streams[0]);
    s.answer(streams[0], kEmptyMessage);
  }});
  LoopClient client(server.address());
  client.connect();
  std::deque<Heard> heard;
  for (int i = 0; i < 3; ++i) client.channel().start(kPut, put_of("key"), {}, heard.emplace_back());
  for (const Heard& each : heard) client.run_until([&] { return each.over(); });
  CHECK(heard[0].status().ok());
  CHECK(heard[1].status().error_code() == StatusCode::UNAVAILABLE);
  CHECK(heard[2].status().error_code() == StatusCode::UNAVAILABLE);
}

TEST_CASE("a server that says goodbye to each connection at once is not asked without a pause") {
  ScriptedServer server(Script{.begins = [](ScriptedServer& s) {
    s.settings({});
    s.goaway(0);
  }});
  LoopClient client(server.address());
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::milliseconds pause(kReconnectPauseMs);
  const grpc::Status status = client.call(kPut, put_of("key"), {.timeout = 10 * pause}).status();
  CHECK(status.error_code() == StatusCode::DEADLINE_EXCEEDED);
  CHECK(server.connections() >= 1);
  CHECK(server.connections() <= (std::chrono::steady_clock::now() - start) / pause + 2);
}

TEST_CASE("a reset ends its call by its code; the connection goes on") {
  ScriptedServer server(Script{.request = [](ScriptedServer& s, std::int32_t stream) {
    if (stream == 1) return s.reset(stream, NGHTTP2_REFUSED_STREAM);
    if (stream == 3) return s.reset(stream, NGHTTP2_ENHANCE_YOUR_CALM);
    s.answer(stream, kEmptyMessage);
  }});
  LoopClient client(server.address());
  CHECK(client.call(kPut, put_of("key")).status().error_code() == StatusCode::UNAVAILABLE);
  CHECK(client.call(kPut, put_of("key")).status().error_code() == StatusCode::RESOURCE_EXHAUSTED);
  CHECK(client.call(kPut, put_of("key")).status().ok());
  CHECK(server.connections() == 1);
}

TEST_CASE("an answer before the request's end counts, whether a reset follows or not") {
  for (const bool resets : {false, true}) {
    ScriptedServer server(Script{.begins =
                                     [](ScriptedServer& s) {  // a request's body finds no room
                                       s.settings({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}});
                                     },
                                 .request =
                                     [=](ScriptedServer& s, std::int32_t stream) {
                                       s.headers(stream, NGHTTP2_FLAG_END_STREAM,
                                                 {{":status", "200"},
                                                  {"content-type", "application/grpc"},
                                                  {"grpc-status", "8"},
                                                  {"grpc-message", "too much"}});
                                       if (resets) s.reset(stream, NGHTTP2_NO_ERROR);
                                     }});
    LoopClient client(server.address());
    for (int i = 0; i < 3; ++i) {
      const grpc::Status status = client.call(kPut, put_of("key", std::string(100'000, 'x'))).status();
      CHECK(status.error_code() == StatusCode::RESOURCE_EXHAUSTED);
      CHECK(status.error_message() == "too much");
    }
    CHECK(server.connections() == 1);
  }
}

TEST_CASE("calls above the server's number of streams wait their turn, and may be cancelled or time out meanwhile") {
  std::vector<std::int32_t> streams;
  ScriptedServer server(Script{.begins =
                                   [](ScriptedServer& s) {
                                     s.settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1}});
                                   },
                               .request =
                                   [&](ScriptedServer& s, std::int32_t stream) {
                                     streams.push_back(stream);
                                     if (streams.size() > 1) s.answer(stream, kEmptyMessage);
                                   }});
  LoopClient client(server.address());
  client.connect();
  Heard first, timed_out, last, never;
  client.channel().start(kPut, put_of("key"), {.timeout = 200ms}, first);
  client.channel().start(kPut, put_of("key"), {.timeout = 50ms}, timed_out);
  const CallId cancelled = client.channel().start(kPut, put_of("key"), {}, never);
  client.channel().start(kPut, put_of("key"), {}, last);
  client.run_for(1ms);
  client.channel().cancel(cancelled);
  client.run_until([&] { return last.over(); });
  CHECK(first.status().error_code() == StatusCode::DEADLINE_EXCEEDED);
  CHECK(timed_out.status().error_code() == StatusCode::DEADLINE_EXCEEDED);
  CHECK(last.status().ok());
  CHECK_FALSE(never.over());
}

TEST_CASE("a server of something else is said so") {
  ScriptedServer server(Script{.begins = [](ScriptedServer& s) { s.raw("HTTP/1.1 400 Bad Request\r\n\r\n"); }});
  LoopClient client(server.address());
  const grpc::Status status = client.call(kPut, put_of("key")).status();
  CHECK(status.error_code() == StatusCode::UNAVAILABLE);
  CHECK(status.error_message().find("cannot connect to " + server.address() + ": ") == 0);
  CHECK_FALSE(client.channel().connected());
}

TEST_CASE("a server that accepts and says nothing is not connected, and calls wait for it until their time is over") {
  ScriptedServer server(Script{.begins = [](ScriptedServer& s) { s.fall_silent(); }});
  LoopClient client(server.address());
  CHECK(client.call(kPut, put_of("key"), {.timeout = 50ms}).status().error_code() == StatusCode::DEADLINE_EXCEEDED);
  CHECK_FALSE(client.channel().connected());
}

TEST_CASE("an answer of two messages, or a compressed one, is INTERNAL, and the connection goes on") {
  ScriptedServer server(Script{.request = [](ScriptedServer& s, std::int32_t stream) {
    std::string message = kEmptyMessage;
    if (stream == 1) message += kEmptyMessage;
    if (stream == 3) message[0] = 1;
    s.answer(stream, message);
  }});
  LoopClient client(server.address());
  CHECK(client.call(kPut, put_of("key")).status().error_code() == StatusCode::INTERNAL);
  CHECK(client.call(kPut, put_of("key")).status().error_code() == StatusCode::INTERNAL);
  CHECK(client.call(kPut, put_of("key")).status().ok());
}

}  // namespace
}  // namespace ingot::rpc::client
