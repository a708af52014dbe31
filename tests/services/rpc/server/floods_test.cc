// Connections that send what carries nothing: each ends with ENHANCE_YOUR_CALM, and others do not notice.
#include <catch2/catch.hpp>
#include <string>

#include "services/rpc/server/flood_guard.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

// Sends these bytes after preface and settings, as fast as they are taken, and gives the server's GOAWAY.
std::pair<int, std::string> flood(Harness& harness, const std::string& once, int times, std::string begin = "") {
  Descriptor attacker = harness.connect();
  write_all(attacker, std::string(kClientPreface) + settings_frame() + begin);
  harness.rounds();
  std::string received = read_all(attacker);
  std::string bytes;
  for (int i = 0; i < times; ++i) bytes += once;
  for (std::string_view left = bytes; !left.empty();) {
    const std::size_t taken = write_all(attacker, left.substr(0, 100'000));
    left.remove_prefix(taken);
    harness.rounds();
    const std::string now = read_all(attacker);
    received += now;
    if (goaway_in(received).first > 0) break;
    if (taken == 0 && now.empty() && at_end(attacker)) break;
  }
  harness.rounds();
  received += read_all(attacker);
  return goaway_in(received);
}

TEST_CASE("floods of frames that carry nothing end their connection, and no other") {
  Harness harness;
  auto ordinary = harness.client();
  const std::string priority = frame(NGHTTP2_PRIORITY, 0, 1, std::string("\0\0\0\0\1", 5));
  const std::string window = frame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string("\0\0\0\1", 4));
  struct Case {
    const char* name;
    std::string once;
    int times;
  };
  const Case cases[] = {{"settings", settings_frame(), 300},
                        {"priorities", priority, 5000},
                        {"windows", window, 5000},
                        {"ping acknowledgements", frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, std::string(8, 'x')), 5000}};
  for (const Case& each : cases) {
    INFO(each.name);
    const auto [code, text] = flood(harness, each.once, each.times);
    CHECK(code == NGHTTP2_ENHANCE_YOUR_CALM);
    CHECK(text == "too_many_frames");
  }
  const auto id = ordinary->call("/t.T/Echo", framed("x"));
  harness.run(*ordinary);
  CHECK(ordinary->answer(id).status() == 0);
  CHECK(harness.counters.ended_flooding.get() == 4);
  harness.pass_ms(kLingerMs + 1);
  CHECK(harness.server().connections() == 1);
}

TEST_CASE("the allowance of frames comes back with time, with calls and with what is sent") {
  ServerBounds bounds;
  nghttp2_frame_hd window{.length = 4, .stream_id = 0, .type = NGHTTP2_WINDOW_UPDATE, .flags = 0, .reserved = 0};
  std::uint64_t now_ns = 1'000'000'000;
  FloodGuard guard(bounds);
  const auto use_up = [&] {
    int taken = 0;
    while (guard.frame_begins(window, now_ns) == nullptr) ++taken;
    return taken;
  };
  CHECK(use_up() == kIdleFramesBurst);
  now_ns += 500'000'000;
  CHECK(std::abs(use_up() - kIdleFramesPerSecond / 2) <= 2);
  guard.call_begins();
  guard.bytes_sent(10 * 1024);
  CHECK(std::abs(use_up() - kIdleFramesPerCall - 10 * kIdleFramesPerKiB) <= 4);
  // A stream of small messages that a quick client read was ended after some 15,000 of them: it gives window for each.
  for (int i = 0; i < 1000; ++i) guard.message_sent();
  CHECK(std::abs(use_up() - 1000 * kIdleFramesPerMessage) <= 4);
  // Its windows come together, once many messages were sent in one round.
  for (int i = 0; i < 50'000; ++i) guard.message_sent();
  CHECK(std::abs(use_up() - 50'000 * kIdleFramesPerMessage) <= 4);
  for (int i = 0; i < 1'000'000; ++i) guard.message_sent();
  CHECK(std::abs(use_up() - kIdleFramesEarnedMax) <= 4);
}

TEST_CASE("pings come every five seconds, or after data; two strikes are forgiven, the third ends the connection") {
  Harness harness;
  auto client = harness.client();
  harness.run(*client);
  for (int i = 0; i < 10; ++i) {  // as often as is allowed
    client->ping();
    harness.run(*client);
    harness.pass_ms(kPingIntervalMinMs);
  }
  for (int i = 0; i < 10; ++i) {  // with data in between
    client->ping();
    client->ping();
    harness.run(*client);
    client->call("/t.T/Echo", framed("x"));
    harness.run(*client);
  }
  CHECK(client->goaways().empty());
  for (int i = 0; i < 3; ++i) client->ping();
  harness.run(*client);
  CHECK(client->goaways().empty());
  client->ping();
  harness.run(*client);
  REQUIRE(client->goaways().size() == 1);
  CHECK(client->goaways()[0] == std::pair<std::uint32_t, std::string>(NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings"));
  CHECK(client->lost());
}

TEST_CASE("rapid resets end their connection; calls that are answered earn resets") {
  Harness harness;
  auto honest = harness.client();
  for (int i = 0; i < 3 * kResetsBurst; ++i) {
    const auto id = honest->call("/t.T/Hold", framed(""), false);
    honest->call("/t.T/Echo", framed(""));
    harness.run(*honest);
    honest->reset(id);
    if (i % 50 == 0) harness.pass_ms(1);
  }
  harness.run(*honest);
  CHECK(honest->goaways().empty());

  auto attacker = harness.client();
  harness.run(*attacker);
  int begun = 0;
  while (!attacker->lost() && attacker->goaways().empty() && begun < 20'000) {
    const auto id = attacker->call("/t.T/Hold", framed(""));
    harness.run(*attacker);
    attacker->reset(id);
    harness.run(*attacker);
    // Else its places stay taken, and it is not read.
    for (const Call& call : harness.held) call.finish(grpc::Status::OK);
    harness.held.clear();
    ++begun;
  }
  harness.run(*attacker);
  CHECK(begun <= kResetsBurst + 10);
  REQUIRE(attacker->goaways().size() == 1);
  CHECK(attacker->goaways()[0].first == NGHTTP2_ENHANCE_YOUR_CALM);
  CHECK(attacker->goaways()[0].second == "too_many_resets");
}

// Regression: each began before the bytes behind it were read, and the replicas made answers that no client awaits.
TEST_CASE("large calls that are given up in the same bytes never begin") {
  Harness harness;
  int begun = 0;
  harness.methods.add("/t.T/Large", {.weight = Method::Weight::kLarge, .unary = [&](Call call, std::string_view) {
                                       ++begun;
                                       call.finish(grpc::Status::OK);
                                     }});
  auto attacker = harness.client();
  harness.run(*attacker);
  const std::string block = header_block(RawClient::grpc_headers("/t.T/Large"));
  std::string bytes;
  for (std::uint32_t id = 1; id < 100; id += 2) {
    bytes += frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, block) +
             frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, id, framed("")) +
             frame(NGHTTP2_RST_STREAM, 0, id, std::string("\0\0\0\x8", 4));
  }
  REQUIRE(write_all(attacker->socket(), bytes) == bytes.size());
  harness.rounds();
  CHECK(begun == 0);
  // Nor do those that stand before the frame that ends the connection.
  bytes = frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 101, block) +
          frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 101, framed(""));
  for (int i = 0; i <= kIdleFramesBurst / kSettingsFrameWeight; ++i) bytes += settings_frame();
  REQUIRE(write_all(attacker->socket(), bytes) == bytes.size());
  harness.rounds();
  CHECK(harness.counters.ended_flooding.get() == 1);
  CHECK(begun == 0);
  auto other = harness.client();
  const auto id = other->call("/t.T/Large", framed(""));
  harness.run(*other);
  CHECK(other->answer(id).status() == 0);
  CHECK(begun == 1);
}

TEST_CASE("streams that a client makes the server reset count as its own resets") {
  const std::string rule = GENERATE("a header's name is in lower case", "a request has one path");
  CAPTURE(rule);
  Headers headers = RawClient::grpc_headers("/t.T/Hold");
  if (rule == "a request has one path") {
    headers.insert(headers.begin(), {":path", "/t.T/Echo"});
  } else {
    headers.emplace_back("Upper-Case", "x");
  }
  Harness harness;
  const Descriptor attacker = harness.connect();
  std::string received;
  write_all(attacker, std::string(kClientPreface) + settings_frame());
  int begun = 0;
  for (; begun < 20'000 && goaway_in(received).first <= 0; ++begun) {
    const auto id = static_cast<std::uint32_t>(2 * begun + 1);
    write_all(attacker, frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, header_block(headers)));
    harness.rounds();
    received += read_all(attacker);
  }
  CHECK(begun > 1000);
  CHECK(begun <= kResetsBurst + 10);
  CHECK(goaway_in(received) == std::pair<int, std::string>(NGHTTP2_ENHANCE_YOUR_CALM, "too_many_resets"));
  CHECK(harness.held.empty());
}

TEST_CASE("header blocks without end are refused by their bytes, in whatever frames") {
  Harness harness;
  const std::string field = header_block({{"x", std::string(1000, 'x')}});
  const std::string begin = frame(NGHTTP2_HEADERS, 0, 1, header_block(RawClient::grpc_headers("/t.T/Echo")));
  const auto small = flood(harness, frame(NGHTTP2_CONTINUATION, 0, 1, field), 2000, begin);
  CHECK(small.first > 0);
  const auto large = flood(harness, frame(NGHTTP2_CONTINUATION, 0, 1, std::string(16'000, '\0')), 100, begin);
  CHECK(large.first > 0);
  CHECK(harness.echoed.empty());
  CHECK(harness.server().open_calls() == 0);
}

// A byte of the second block names the field that the first one left in the table.
TEST_CASE("a small header block that unfolds to a large one ends its connection") {
  Harness harness;
  std::string first = header_block(RawClient::grpc_headers("/t.T/Echo"));
  first += std::string("\x40\x01x\x7f\xa1\x1e", 6) + std::string(4000, 'v');  // kept in the table: x, 4,000 bytes
  const std::string begin = frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, first);
  const std::string second = header_block(RawClient::grpc_headers("/t.T/Echo")) + std::string(1000, '\xbe');
  const auto [code, text] =
      flood(harness, frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 3, second), 1, begin);
  CHECK(code == NGHTTP2_ENHANCE_YOUR_CALM);
  CHECK(text == "too_large_header_block");
}

TEST_CASE("bodies in frames of a byte end their connection after a while") {
  Harness harness;
  const std::string begin =
      frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, header_block(RawClient::grpc_headers("/t.T/Echo"))) +
      frame(NGHTTP2_DATA, 0, 1, std::string("\0\0\x0f\xff\xff", 5));
  CHECK(flood(harness, frame(NGHTTP2_DATA, 0, 1, "x"), 20'000, begin).first == NGHTTP2_ENHANCE_YOUR_CALM);
}

}  // namespace
}  // namespace ingot::rpc
