// Calls with streams of messages, in both directions, with flow control and bounded output.
#include <catch2/catch.hpp>
#include <string>

#include "services/rpc/wire/compression.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

// What a handler has heard.
struct Heard {
  Call call;
  std::vector<std::string> messages;
  bool half_closed = false;
  int writable = 0;
  bool wants_more = true;
  bool alive = true;
  std::function<void(std::string_view)> on_message = [](std::string_view) {};
};

class Recorder final : public StreamHandler {
 public:
  explicit Recorder(Heard& heard) : heard_(heard) {}
  ~Recorder() override { heard_.alive = false; }
  void message(std::string_view bytes) override {
    heard_.messages.emplace_back(bytes);
    heard_.on_message(bytes);
  }
  void half_closed() override { heard_.half_closed = true; }
  void writable() override { ++heard_.writable; }
  bool wants_more() const override { return heard_.wants_more; }

 private:
  Heard& heard_;
};

struct StreamHarness : Harness {
  explicit StreamHarness(ServerBounds bounds = {}) : Harness(bounds) {
    methods.add("/t.T/Stream", {.stream = [this](Call call) {
                  heard.call = call;
                  return std::make_unique<Recorder>(heard);
                }});
  }
  // The same, with a handler that bounds its output itself.
  void add_bounding() {
    methods.add("/t.T/Bounding", {.stream =
                                      [this](Call call) {
                                        heard.call = call;
                                        return std::make_unique<Recorder>(heard);
                                      },
                                  .bounds_output = true});
  }
  Heard heard;
};

TEST_CASE("messages go both ways until each side has ended") {
  StreamHarness harness;
  auto client = harness.client();
  const auto id = client->call("/t.T/Stream", framed("a") + framed("b"), false);
  harness.run(*client);
  CHECK(harness.heard.messages == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(harness.heard.half_closed);
  harness.heard.call.send_bytes("1");
  harness.run(*client);
  CHECK(client->answer(id).body == framed("1"));
  CHECK_FALSE(client->answer(id).ended);
  client->send(id, framed("c"), true);
  harness.run(*client);
  CHECK(harness.heard.messages.size() == 3);
  CHECK(harness.heard.half_closed);
  CHECK(harness.heard.alive);
  harness.heard.call.send_bytes("2");
  harness.heard.call.finish({grpc::StatusCode::ABORTED, "enough"});
  CHECK_FALSE(harness.heard.call.open());
  harness.run(*client);
  CHECK(client->answer(id).body == framed("1") + framed("2"));
  CHECK(client->answer(id).trailers.at("grpc-status") == "10");
  CHECK_FALSE(harness.heard.alive);
}

TEST_CASE("the fallback serves paths that no method has") {
  StreamHarness harness;
  std::string path;
  harness.methods.set_fallback([&](Call call, std::string_view of) {
    path = of;
    harness.heard.call = call;
    return std::make_unique<Recorder>(harness.heard);
  });
  auto client = harness.client();
  const auto id = client->call("/other.Service/Method", framed("x"));
  const auto bad = client->call("nonsense", framed("x"));
  harness.run(*client);
  CHECK(path == "/other.Service/Method");
  CHECK(harness.heard.half_closed);
  harness.heard.call.send_initial_metadata();
  harness.run(*client);
  CHECK(client->answer(id).headers.at(":status") == "200");
  harness.heard.call.finish(grpc::Status::OK);
  harness.run(*client);
  CHECK(client->answer(id).trailers.at("grpc-status") == "0");
  CHECK(client->answer(bad).closed);
}

TEST_CASE("a handler that ends its call within its own function is destroyed only afterwards") {
  StreamHarness harness;
  bool alive_within = false;
  harness.heard.on_message = [&](std::string_view) {
    harness.heard.call.finish(grpc::Status::OK);
    alive_within = harness.heard.alive;
  };
  auto client = harness.client();
  const auto id = client->call("/t.T/Stream", framed("a") + framed("b"), false);
  harness.run(*client);
  CHECK(alive_within);
  CHECK_FALSE(harness.heard.alive);
  CHECK(harness.heard.messages.size() == 1);
  CHECK(client->answer(id).status() == 0);
  CHECK(client->answer(id).reset == NGHTTP2_NO_ERROR);
}

TEST_CASE("a handler that wants no more stops its client, and loses nothing when it goes on") {
  StreamHarness harness;
  auto client = harness.client();
  harness.heard.on_message = [&](std::string_view) {
    harness.heard.wants_more = harness.heard.messages.size() % 3 != 0;
  };
  std::string sent;
  for (int i = 0; i < 200; ++i) sent += framed(std::string(1000, static_cast<char>('a' + i % 26)));
  const auto id = client->call("/t.T/Stream", sent, true);
  harness.run(*client);
  CHECK(harness.heard.messages.size() == 3);
  CHECK(nghttp2_session_get_stream_remote_window_size(client->h2(), id) == 0);  // the window is used up
  for (int i = 0; i < 100; ++i) {
    harness.heard.wants_more = true;
    harness.heard.call.resume();
    harness.run(*client);
  }
  REQUIRE(harness.heard.messages.size() == 200);
  for (std::size_t i = 0; i < 200; ++i) CHECK(harness.heard.messages[i][0] == static_cast<char>('a' + i % 26));
  CHECK(harness.heard.half_closed);
}

TEST_CASE("output waits for the client's window, and the handler hears when it may go on") {
  StreamHarness harness;
  auto client = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  const auto id = client->call("/t.T/Stream", "", false);
  harness.run(*client);
  for (int i = 0; i < 10; ++i) harness.heard.call.send_bytes(std::string(50'000, 'x'));
  harness.run(*client);
  const std::size_t got = client->answer(id).body.size();
  CHECK(got == 65'535);
  CHECK(harness.heard.call.pending_bytes() == 10 * 50'005 - got);
  CHECK(harness.heard.writable == 0);
  while (client->answer(id).body.size() < 10 * 50'005) {
    REQUIRE(nghttp2_session_consume(client->h2(), id, 60'000) == 0);
    harness.run(*client);
    CHECK(harness.heard.writable == (harness.heard.call.pending_bytes() < kStreamOutputLowBytes ? 1 : 0));
  }
  CHECK(harness.heard.call.pending_bytes() == 0);
  CHECK(harness.heard.writable == 1);
}

TEST_CASE("a handler hears once that its output is below what it has named") {
  StreamHarness harness;
  auto client = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  const auto id = client->call("/t.T/Stream", "", false);
  harness.run(*client);
  harness.heard.call.tell_below(1);
  CHECK(harness.heard.writable == 0);  // not within its own call
  harness.run(*client);
  CHECK(harness.heard.writable == 1);
  for (int i = 0; i < 10; ++i) harness.heard.call.send_bytes(std::string(10'000, 'x'));
  harness.heard.call.tell_below(5'000);
  harness.run(*client);
  CHECK(harness.heard.call.pending_bytes() > 30'000);
  CHECK(harness.heard.writable == 1);
  REQUIRE(nghttp2_session_consume(client->h2(), id, 60'000) == 0);
  harness.run(*client);
  CHECK(harness.heard.call.pending_bytes() == 0);
  CHECK(harness.heard.writable == 2);
  harness.heard.call.send_bytes("x");
  harness.run(*client);
  CHECK(harness.heard.writable == 2);
}

TEST_CASE("what a handler that bounds its output keeps for its reader holds up no other call") {
  ServerBounds bounds;
  bounds.output_begin_bytes = 10'000;
  bounds.output_bytes_all = 10'000;
  StreamHarness harness(bounds);
  harness.add_bounding();
  harness.methods.add("/t.T/Large", {.weight = Method::Weight::kLarge, .unary = [](Call call, std::string_view) {
                                       call.send_bytes("large");
                                       call.finish(grpc::Status::OK);
                                     }});
  auto client = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  auto other = harness.client();
  const char* const path = GENERATE("/t.T/Bounding", "/t.T/Stream");
  const bool bounding = path == std::string("/t.T/Bounding");
  client->call(path, "", false);
  harness.run(*client);
  harness.heard.call.send_bytes(std::string(200'000, 'x'));
  harness.run(*client);
  REQUIRE(harness.heard.call.pending_bytes() > 100'000);
  const auto same_connection = client->call("/t.T/Echo", framed("x"));
  const auto large = other->call("/t.T/Large", framed("x"));
  harness.run(*client, *other);
  nghttp2_session_consume_connection(client->h2(), 65'535);
  harness.run(*client, *other);
  CHECK(client->answer(same_connection).ended == bounding);
  CHECK(other->answer(large).ended == bounding);
}

TEST_CASE("what waits when a handler that bounds its output ends with an error comes whole if the client takes it") {
  StreamHarness harness;
  harness.add_bounding();
  auto client = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  const auto id = client->call("/t.T/Bounding", "", false);
  harness.run(*client);
  harness.heard.call.send_bytes(std::string(200'000, 'x'));
  harness.run(*client);
  harness.heard.call.finish({grpc::StatusCode::UNAVAILABLE, "over"});
  harness.run(*client);
  CHECK_FALSE(client->answer(id).ended);
  while (client->answer(id).body.size() < 200'005) {
    REQUIRE(nghttp2_session_consume(client->h2(), id, 40'000) == 0);
    harness.run(*client);
  }
  CHECK(client->answer(id).status() == 14);
  CHECK(harness.server().held_bytes() == 0);
}

// Regression: it waited, outside of every bound, for a client that took nothing, which was not told of the end either.
TEST_CASE("it is dropped if the client takes nothing, which is told of the end at once") {
  StreamHarness harness;
  harness.add_bounding();
  auto client = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  const bool deaf = GENERATE(false, true);  // does not read its socket; else it gives no window
  if (deaf) {
    nghttp2_session_set_local_window_size(client->h2(), NGHTTP2_FLAG_NONE, 0, 1 << 30);
    harness.run(*client);
  }
  const auto id = client->call("/t.T/Bounding", "", false);
  if (deaf) nghttp2_session_set_local_window_size(client->h2(), NGHTTP2_FLAG_NONE, id, 1 << 30);
  harness.run(*client);
  client->read_nothing(deaf);
  for (int i = 0; i < 20; ++i) harness.heard.call.send_bytes(std::string(100'000, 'x'));
  harness.run(*client);
  harness.pass_ms(kStalledEndMs);
  harness.heard.call.finish({grpc::StatusCode::UNAVAILABLE, "over"});
  harness.rounds();
  CHECK(harness.server().held_bytes() <= 2 * kWriteBytes);  // frames
  client->read_nothing(false);
  harness.run(*client);
  CHECK(client->answer(id).status() == 14);
  CHECK(client->answer(id).body.size() < 20 * 100'005);
  CHECK(harness.server().held_bytes() == 0);
  nghttp2_session_consume_connection(client->h2(), 65'535);
  const auto next = client->call("/t.T/Echo", framed("next"));
  harness.run(*client);
  CHECK(client->answer(next).status() == 0);
}

TEST_CASE("the end of a call whose messages have all left needs no window") {
  StreamHarness harness;
  auto client = std::make_unique<RawClient>(harness.connect(),
                                            RawClient::Options{.auto_window = false, .stream_window = 10});
  const auto id = client->call("/t.T/Stream", "", false);
  harness.run(*client);
  harness.heard.call.send_bytes("12345");
  harness.run(*client);
  CHECK(client->answer(id).body == framed("12345"));
  harness.heard.call.finish({grpc::StatusCode::ABORTED, "enough"});
  harness.run(*client);
  CHECK(client->answer(id).status() == 10);
}

TEST_CASE("the name of a connection is that of all its calls") {
  StreamHarness harness;
  auto client = harness.client(), other = harness.client();
  std::vector<const void*> names;
  for (RawClient* each : {client.get(), client.get(), other.get()}) {
    each->call("/t.T/Stream", "", false);
    harness.run(*client, *other);
    names.push_back(harness.heard.call.connection());
  }
  CHECK(names[0] == names[1]);
  CHECK(names[0] != names[2]);
}

TEST_CASE("a cancelled stream's handler is destroyed, and its output with it") {
  StreamHarness harness;
  auto client = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  const auto id = client->call("/t.T/Stream", "", false);
  harness.run(*client);
  harness.heard.call.send_bytes(std::string(1'000'000, 'x'));
  harness.run(*client);
  client->reset(id);
  nghttp2_session_consume_connection(client->h2(), 65'535);
  harness.run(*client);
  CHECK_FALSE(harness.heard.alive);
  CHECK_FALSE(harness.heard.call.open());
  CHECK(harness.heard.call.pending_bytes() == 0);
  const auto next = client->call("/t.T/Echo", framed("next"));
  harness.run(*client);
  CHECK(client->answer(next).status() == 0);
}

TEST_CASE("faults of a stream end it with their status") {
  StreamHarness harness;
  auto client = harness.client();
  Headers gzip = RawClient::grpc_headers("/t.T/Stream");
  gzip.emplace_back("grpc-encoding", "gzip");
  const auto inflated = client->call(gzip, framed(gzip_message("hello"), true), true);
  harness.run(*client);
  CHECK(harness.heard.messages == std::vector<std::string>{"hello"});
  harness.heard.call.finish(grpc::Status::OK);
  const auto within = client->call("/t.T/Stream", framed("abc").substr(0, 6), true);
  const auto large = client->call("/t.T/Stream", framed(std::string(2'097'153, 'x')).substr(0, 100), false);
  const auto bomb = client->call(gzip, framed(gzip_message(std::string(1 << 22, '\0')), true), false);
  harness.run(*client);
  CHECK(client->answer(inflated).status() == 0);
  CHECK(client->answer(within).status() == 13);
  CHECK(client->answer(large).status() == 8);
  CHECK(client->answer(bomb).status() == 8);
}

}  // namespace
}  // namespace ingot::rpc
