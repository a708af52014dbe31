// The fields of a request: those that real clients send are taken, and what HTTP/2 forbids is told by a reset.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

// The head of an ordinary call, with other values for some of its fields; a field that it does not have is its last.
Headers changed(const Headers& change) {
  Headers headers = RawClient::grpc_headers("/t.T/Echo");
  for (const auto& [name, value] : change) {
    auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& field) { return field.first == name; });
    if (found == headers.end()) found = headers.insert(headers.end(), {name, ""});
    found->second = value;
  }
  return headers;
}

Headers without(const std::string& name) {
  Headers headers = changed({});
  std::erase_if(headers, [&](const auto& field) { return field.first == name; });
  return headers;
}

Headers with_first(const std::string& name, const std::string& value) {
  Headers headers = changed({});
  headers.insert(headers.begin(), {name, value});
  return headers;
}

// The code with which the server has reset the stream; -1: it has not.
int reset_in(std::string_view frames, std::uint32_t stream) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(frames[at + i]);
    return value;
  };
  for (; frames.size() >= 9 && frames.size() >= 9 + number(0, 3); frames.remove_prefix(9 + number(0, 3))) {
    if (frames[3] == NGHTTP2_RST_STREAM && number(5, 4) == stream) return static_cast<int>(number(9, 4));
  }
  return -1;
}

// Frames by hand, on a connection of their own.
struct ByHand {
  explicit ByHand(Harness& harness) : harness_(harness), socket_(harness.connect()) {
    write_all(socket_, std::string(kClientPreface) + settings_frame());
    harness_.rounds();
    read_all(socket_);
  }
  std::string play(const std::string& frames) {
    write_all(socket_, frames);
    harness_.rounds();
    return read_all(socket_);
  }

 private:
  Harness& harness_;
  Descriptor socket_;
};

std::string head(std::uint32_t id, const Headers& headers, int flags = 0) {
  return frame(NGHTTP2_HEADERS, static_cast<std::uint8_t>(NGHTTP2_FLAG_END_HEADERS | flags), id, header_block(headers));
}

std::string last_data(std::uint32_t id) { return frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, id, framed("x")); }

TEST_CASE("an authority that is no host is taken: Go's client 3.5.0, etcdctl 3.4 with a URL, a Unix socket") {
  Harness harness;
  auto client = harness.client();
  for (const char* authority : {"#initially=[127.0.0.1:2379]", "http://127.0.0.1:2379", "/run/ingot/0.sock",
                                "%2Frun%2Fingot%2F0.sock", "user@host", "[::1]:2379", "a b", "\xc3\xa4", " ", ""}) {
    INFO(authority);
    const auto id = client->call(changed({{":authority", authority}}), framed("x"));
    const auto by_host = client->call(changed({{"host", authority}}), framed("x"));
    harness.run(*client);
    CHECK(client->answer(id).status() == 0);
    CHECK(client->answer(by_host).status() == 0);
  }
  const auto none = client->call(without(":authority"), framed("x"));
  harness.run(*client);
  CHECK(client->answer(none).status() == 0);
}

TEST_CASE("fields that say nothing to a call are not looked at") {
  const Headers fields[] = {
      changed({{":scheme", "unix"}}),
      changed({{":scheme", ""}}),
      without(":scheme"),
      without("te"),
      changed({{"te", "gzip"}}),
      changed({{"connection", "close"}}),
      changed({{"keep-alive", "timeout=5"}}),
      changed({{"proxy-connection", "keep-alive"}}),
      changed({{"transfer-encoding", "chunked"}}),
      changed({{"upgrade", "h2c"}}),
      changed({{"content-length", "3"}}),
      changed({{"content-length", "many"}}),
      with_first("content-length", "6"),
      changed({{"x-padded", " v "}}),
      changed({{"x-text", "\xc3\xa4\t\xe4"}}),
      changed({{"x-empty", ""}}),
      changed({{"grpc-status", "0"}}),
  };
  Harness harness;
  auto client = harness.client();
  for (Headers headers : fields) {
    std::stable_partition(headers.begin(), headers.end(), [](const auto& each) { return each.first.starts_with(':'); });
    INFO(headers.back().first << ": " << headers.back().second);
    const auto id = client->call(headers, framed("x"));
    headers.push_back(headers.back());  // and twice
    const auto twice = client->call(headers, framed("x"));
    harness.run(*client);
    CHECK(client->answer(id).status() == 0);
    CHECK(client->answer(twice).status() == 0);
  }
}

TEST_CASE("a head without a path or a method is answered with a sentence, not with a reset") {
  Harness harness;
  auto client = harness.client();
  const auto path = client->call(without(":path"), framed("x"));
  const auto method = client->call(without(":method"), framed("x"));
  harness.run(*client);
  CHECK(client->answer(path).message() == "a method's path is /SERVICE/METHOD");
  CHECK(client->answer(method).message() == "gRPC calls are POST requests");
  CHECK(client->answer(method).headers.at(":status") == "405");
}

TEST_CASE("one of several content-types counts, and connections' own fields are no metadata") {
  Harness harness;
  Metadata metadata;
  harness.methods.add("/t.T/Metadata", {.unary = [&](Call call, std::string_view) {
                        metadata = call.all_metadata();
                        call.finish(grpc::Status::OK);
                      }});
  auto client = harness.client();
  Headers headers = changed({{":path", "/t.T/Metadata"}, {"connection", "x-own"}, {"upgrade", "h2c"}, {"x", " v "}});
  headers.emplace_back("content-type", "text/plain");
  const auto id = client->call(headers, framed("x"));
  harness.run(*client);
  CHECK(client->answer(id).status() == 0);
  CHECK(metadata == Metadata{{"x", " v "}});
}

TEST_CASE("a header block that HTTP/2 forbids is reset, and its connection goes on") {
  const std::pair<const char*, Headers> blocks[] = {
      {"upper case", changed({{"Upper-Case", "x"}})},
      {"a name with a space", changed({{"a b", "x"}})},
      {"a name with a colon", changed({{"a:b", "x"}})},
      {"no name", changed({{"", "x"}})},
      {"a name of a colon", with_first(":", "x")},
      {"a name of other letters", changed({{"\xc3\xa4", "x"}})},
      {"a value of two lines", changed({{"x", "a\nb"}})},
      {"a value with a zero byte", changed({{"x", std::string("a\0b", 3)}})},
      {"an authority of two lines", changed({{":authority", "a\r\nb"}})},
      {"a path twice", with_first(":path", "/t.T/Echo")},
      {"an authority twice", with_first(":authority", "localhost")},
      {"an unknown pseudo-header", with_first(":protocol", "websocket")},
      {"an answer's pseudo-header", with_first(":status", "200")},
      {"a pseudo-header after a field", with_first("x", "x")},
  };
  Harness harness;
  ByHand client(harness);
  std::uint32_t id = 1;
  for (const auto& [name, headers] : blocks) {
    INFO(name);
    CHECK(reset_in(client.play(head(id, headers) + last_data(id)), id) == NGHTTP2_PROTOCOL_ERROR);
    CHECK(harness.echoed.empty());
    id += 2;
  }
  CHECK(reset_in(client.play(head(id, changed({})) + last_data(id)), id) == -1);
  CHECK(harness.echoed.size() == 1);
  CHECK(harness.server().open_calls() == 0);
}

TEST_CASE("trailers of a request end it, and are fields as in a head") {
  struct Case {
    const char* name;
    Headers trailers;
    int flags;
    int reset;
  };
  const Case cases[] = {
      {"a field", {{"x", "v"}}, NGHTTP2_FLAG_END_STREAM, -1},
      {"no field", {}, NGHTTP2_FLAG_END_STREAM, -1},
      {"a field of no call", {{"connection", "close"}}, NGHTTP2_FLAG_END_STREAM, -1},
      {"not the end", {{"x", "v"}}, 0, NGHTTP2_PROTOCOL_ERROR},
      {"a pseudo-header", {{":path", "/t.T/Hold"}}, NGHTTP2_FLAG_END_STREAM, NGHTTP2_PROTOCOL_ERROR},
      {"upper case", {{"Upper-Case", "v"}}, NGHTTP2_FLAG_END_STREAM, NGHTTP2_PROTOCOL_ERROR},
      {"a value of two lines", {{"x", "a\nb"}}, NGHTTP2_FLAG_END_STREAM, NGHTTP2_PROTOCOL_ERROR},
  };
  Harness harness;
  ByHand client(harness);
  std::uint32_t id = 1;
  for (const Case& each : cases) {
    INFO(each.name);
    harness.echoed.clear();
    const std::string data = frame(NGHTTP2_DATA, 0, id, framed("x"));
    CHECK(reset_in(client.play(head(id, changed({})) + data + head(id, each.trailers, each.flags)), id) == each.reset);
    CHECK(harness.echoed.size() == (each.reset == -1 ? 1 : 0));
    id += 2;
  }
  CHECK(harness.server().open_calls() == 0);
}

}  // namespace
}  // namespace ingot::rpc
