// Unary calls: what a client gets for what it sends.
#include <catch2/catch.hpp>
#include <string>

#include "services/rpc/wire/compression.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

constexpr int kDeadlineExceeded = 4, kPermissionDenied = 7, kResourceExhausted = 8, kUnimplemented = 12, kInternal = 13;

TEST_CASE("a unary call is answered with headers, one message and trailers") {
  Harness harness;
  auto client = harness.client();
  const auto id = client->call("/t.T/Echo", framed("hello"));
  harness.run(*client);
  const Answer& answer = client->answer(id);
  CHECK(answer.headers.at(":status") == "200");
  CHECK(answer.headers.at("content-type") == "application/grpc");
  CHECK(answer.headers.at("grpc-accept-encoding") == "identity, deflate, gzip");
  CHECK(answer.body == framed("hello"));
  CHECK(answer.trailers.at("grpc-status") == "0");
  CHECK(answer.ended);
  CHECK(answer.reset == NGHTTP2_NO_ERROR);
  CHECK(harness.server().open_calls() == 0);
}

TEST_CASE("messages of any size arrive and leave, in whatever pieces") {
  Harness harness;
  auto client = harness.client();
  const std::size_t bytes = GENERATE(0, 1, 16'384, 70'000, 1'500'000, 2'097'152);
  const std::string message(bytes, 'm');
  const auto whole = client->call("/t.T/Echo", framed(message));
  const auto pieces = client->call("/t.T/Echo", "", false);
  harness.run(*client);
  const std::string sent = framed(message);
  for (std::size_t at = 0, step = 1; at < sent.size(); at += step, step = step * 3 + 1) {
    client->send(pieces, sent.substr(at, step));
    harness.run(*client);
  }
  client->send(pieces, "", true);
  harness.run(*client);
  for (const auto id : {whole, pieces}) {
    CHECK(client->answer(id).status() == 0);
    CHECK(client->answer(id).body == sent);
  }
}

TEST_CASE("many calls of one connection run at a time, and end in any order") {
  Harness harness;
  auto client = harness.client();
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 200; ++i) ids.push_back(client->call("/t.T/Hold", framed("")));
  harness.run(*client);
  REQUIRE(harness.held.size() == 200);
  for (std::size_t i = 0; i < 200; ++i) {
    const Call call = harness.held[(i * 77) % 200];
    call.send_bytes(std::to_string((i * 77) % 200));
    call.finish(grpc::Status::OK);
    CHECK_FALSE(call.open());
    call.finish(grpc::Status::OK);  // does nothing
  }
  harness.run(*client);
  for (std::size_t i = 0; i < 200; ++i) CHECK(client->answer(ids[i]).body == framed(std::to_string(i)));
}

TEST_CASE("a fault is told by trailers alone, with its status and a sentence") {
  struct Case {
    const char* name;
    Headers change;  // of the header block
    std::string bytes;
    int status;
    std::string message;
    std::string http = "200";
  };
  const std::string kMalformedText =
      "grpc: error unmarshalling request: malformed Protocol Buffers message; nothing was done";
  const Case cases[] = {
      {"unknown method", {{":path", "/t.T/None"}}, framed(""), kUnimplemented, "unknown method None for service t.T"},
      {"a path without service",
       {{":path", "/None"}},
       framed(""),
       kUnimplemented,
       "a method's path is /SERVICE/METHOD"},
      {"another type",
       {{"content-type", "text/html"}},
       framed(""),
       kInternal,
       "the content-type of gRPC calls is application/grpc",
       "415"},
      {"another method", {{":method", "GET"}}, "", kInternal, "gRPC calls are POST requests", "405"},
      {"no message", {}, "", kInternal, kMalformedText},
      {"half a message", {}, framed("hello").substr(0, 7), kInternal, "grpc: the request ends within a message"},
      {"two messages",
       {},
       framed("a") + framed("b"),
       kUnimplemented,
       "grpc: a call of this method has one request message; nothing was done"},
      {"a malformed prefix",
       {},
       std::string("\2\0\0\0\0", 5),
       kInternal,
       "grpc: a message's prefix begins with 0 or 1; this one does not"},
      {"too large",
       {},
       framed(std::string(2'097'153, 'x')),
       kResourceExhausted,
       "Received message larger than max (2097153 vs. 2097152)"},
      {"too much metadata",
       {{"x", std::string(8'200, 'x')}},
       framed(""),
       kResourceExhausted,
       "received metadata size exceeds limit (more than 8192 bytes)"},
      {"too much metadata before the content-type",
       {{":authority", std::string(8'200, 'x')}},
       framed(""),
       kResourceExhausted,
       "received metadata size exceeds limit (more than 8192 bytes)"},
      {"no timeout",
       {{"grpc-timeout", "5"}},
       framed(""),
       kInternal,
       "malformed grpc-timeout; right is such as 5S or 300m"},
      {"no base64", {{"x-bin", "!"}}, framed(""), kInternal, "the metadata x-bin is not base64; nothing was done"},
      {"an unknown encoding",
       {{"grpc-encoding", "snappy"}},
       framed(""),
       kUnimplemented,
       "grpc: the request's encoding is unknown; known are identity, deflate, gzip"},
      {"compressed without encoding",
       {},
       framed("x", true),
       kInternal,
       "grpc: a message is compressed, but there is no grpc-encoding"},
  };
  Harness harness;
  auto client = harness.client();
  for (const Case& each : cases) {
    INFO(each.name);
    Headers headers = RawClient::grpc_headers("/t.T/Echo");
    for (const auto& [name, value] : each.change) {
      auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& field) { return field.first == name; });
      if (found == headers.end()) found = headers.insert(headers.end(), {name, ""});
      found->second = value;
    }
    const auto id = client->call(headers, each.bytes);
    harness.run(*client);
    const Answer& answer = client->answer(id);
    CHECK(answer.status() == each.status);
    CHECK(answer.message() == each.message);
    CHECK(answer.headers.at(":status") == each.http);
    CHECK(answer.trailers.empty());
    CHECK(answer.closed);
  }
  CHECK(harness.echoed.empty());
  const auto after = client->call("/t.T/Echo", framed("well"));
  harness.run(*client);
  CHECK(client->answer(after).status() == 0);  // the connection is as it was
}

TEST_CASE("compressed requests are inflated, and a bomb is refused at the message bound") {
  Harness harness;
  auto client = harness.client();
  Headers headers = RawClient::grpc_headers("/t.T/Echo");
  headers.emplace_back("grpc-encoding", "gzip");
  const auto good = client->call(headers, framed(gzip_message("hello"), true));
  const auto plain = client->call(headers, framed("plain"));
  const auto bomb = client->call(headers, framed(gzip_message(std::string(std::size_t{64} << 20, '\0')), true));
  const auto bad = client->call(headers, framed("not gzip", true));
  harness.run(*client);
  CHECK(client->answer(good).body == framed("hello"));  // answers are not compressed
  CHECK(client->answer(plain).body == framed("plain"));
  CHECK(client->answer(bomb).status() == kResourceExhausted);
  CHECK(client->answer(bad).status() == kInternal);
}

TEST_CASE("status texts are percent-encoded and cut off at their bound; details are base64") {
  Harness harness;
  auto client = harness.client();
  const auto id = client->call("/t.T/Hold", framed(""));
  const auto lengthy = client->call("/t.T/Hold", framed(""));
  harness.run(*client);
  harness.held[0].finish({grpc::StatusCode::FAILED_PRECONDITION, "100% gr\xc3\xbcn\n", std::string("\1\2\3", 3)});
  harness.held[1].finish({grpc::StatusCode::INTERNAL, std::string(100'000, 'x')});
  harness.run(*client);
  CHECK(client->answer(id).message() == "100%25 gr%C3%BCn%0A");
  CHECK(client->answer(id).headers.at("grpc-status-details-bin") == "AQID");
  CHECK(client->answer(lengthy).message().size() == kStatusMessageBytesMax);
}

TEST_CASE("a handler sees caller, path and metadata, and gives metadata of its own") {
  Harness harness;
  auto client = harness.client({Caller::Door::kUnix, "unix:pid=1,uid=2", Caller::Credentials{2, 3, 1}});
  Headers headers = RawClient::grpc_headers("/t.T/Hold");
  headers.insert(headers.end(), {{"key", "value"}, {"raw-bin", "AQID"}, {"user-agent", "test"}});
  const auto id = client->call(headers, framed(""));
  harness.run(*client);
  const Call call = harness.held.at(0);
  CHECK(call.path() == "/t.T/Hold");
  CHECK(call.caller().credentials->uid == 2);
  CHECK(call.metadata("key") == "value");
  CHECK(call.metadata("raw-bin") == std::string("\1\2\3", 3));
  CHECK_FALSE(call.metadata("te").has_value());
  CHECK_FALSE(call.metadata(":path").has_value());
  CHECK(call.all_metadata() == Metadata{{"key", "value"}, {"raw-bin", "\1\2\3"}, {"user-agent", "test"}});
  CHECK(call.deadline_ns() == Call::kNever);
  call.add_initial_metadata("first", "1");
  call.add_initial_metadata("first-bin", "\xff");
  call.add_initial_metadata("Not Allowed", "1");
  call.add_initial_metadata("content-type", "text/html");
  call.add_trailing_metadata("last", "2");
  call.add_trailing_metadata("bad", "a\nb");
  call.send_bytes("x");
  call.finish(grpc::Status::OK);
  harness.run(*client);
  Answer& answer = client->answer(id);
  CHECK(answer.headers.at("first") == "1");
  CHECK(answer.headers.at("first-bin") == "/w");
  CHECK(answer.headers.at("content-type") == "application/grpc");
  CHECK(answer.headers.size() == 5);
  CHECK(answer.trailers.at("last") == "2");
  CHECK(answer.trailers.size() == 2);
}

TEST_CASE("a call whose deadline is over ends with DEADLINE_EXCEEDED, at that time and not before") {
  Harness harness;
  auto client = harness.client();
  Headers headers = RawClient::grpc_headers("/t.T/Hold");
  headers.emplace_back("grpc-timeout", "300m");
  const auto id = client->call(headers, framed(""));
  const auto incomplete = client->call(headers, framed("half").substr(0, 6), false);
  headers.back().second = "0S";
  const auto at_once = client->call(headers, framed(""));
  harness.run(*client);
  CHECK(client->answer(at_once).status() == kDeadlineExceeded);
  REQUIRE(harness.held.size() == 1);
  CHECK(harness.held[0].deadline_ns() == harness.now_ns + 300'000'000);
  harness.pass_ms(299);
  CHECK(harness.held[0].open());
  CHECK(harness.server().deadline_ns() <= harness.now_ns + 1'000'000);
  harness.pass_ms(1);
  harness.run(*client);
  CHECK_FALSE(harness.held[0].open());
  harness.held[0].finish(grpc::Status::OK);  // does nothing
  harness.run(*client);
  CHECK(client->answer(id).status() == kDeadlineExceeded);
  CHECK(client->answer(id).message() == "Deadline Exceeded");
  CHECK(client->answer(incomplete).status() == kDeadlineExceeded);
  CHECK(harness.counters.calls_overdue.get() == 3);
}

TEST_CASE("a call that the client resets, or whose connection is lost, is not open any more") {
  Harness harness;
  auto client = harness.client();
  const auto id = client->call("/t.T/Hold", framed(""));
  client->call("/t.T/Hold", framed(""));
  harness.run(*client);
  REQUIRE(harness.held.size() == 2);
  client->reset(id);
  harness.run(*client);
  CHECK_FALSE(harness.held[0].open());
  CHECK(harness.held[1].open());
  harness.held[0].send_bytes("nothing");
  client.reset();
  harness.rounds();
  CHECK_FALSE(harness.held[1].open());
  harness.held[1].finish(grpc::Status::OK);
  harness.rounds();
  CHECK(harness.server().connections() == 0);
  CHECK(harness.counters.calls_cancelled.get() == 2);
}

TEST_CASE("an answer that precedes the end of its request is followed by RST_STREAM, NO_ERROR") {
  Harness harness;
  auto client = harness.client();
  const auto id = client->call("/t.T/None", framed("x"), false);
  harness.run(*client);
  const Answer& answer = client->answer(id);
  CHECK(answer.status() == kUnimplemented);
  CHECK(answer.ended);
  CHECK(answer.closed);
  CHECK(answer.reset == NGHTTP2_NO_ERROR);
  REQUIRE(answer.frames.size() >= 2);
  CHECK(answer.frames.back() == NGHTTP2_RST_STREAM);  // it does not overtake the trailers
}

TEST_CASE("the gate refuses a call before its handler sees it, by caller and path") {
  Harness harness;
  harness.methods.set_gate([](const Caller& caller, std::string_view path) {
    return caller.door == Caller::Door::kUnix || path != "/t.T/Echo"
               ? grpc::Status::OK
               : grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "by the socket only");
  });
  auto tcp = harness.client();
  auto local = harness.client({Caller::Door::kUnix, "unix:", std::nullopt});
  const auto refused = tcp->call("/t.T/Echo", framed(""));
  const auto allowed = local->call("/t.T/Echo", framed(""));
  harness.run(*tcp, *local);
  CHECK(tcp->answer(refused).status() == kPermissionDenied);
  CHECK(tcp->answer(refused).message() == "by the socket only");
  CHECK(local->answer(allowed).status() == 0);
  CHECK(harness.echoed.size() == 1);
}

}  // namespace
}  // namespace ingot::rpc
