// What a loop keeps for all its connections has one bound, whatever each of them does.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/rpc/server/holdings.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

constexpr int kResourceExhausted = 8;

Caller caller(int number) { return {Caller::Door::kTcp, "test:" + std::to_string(number), std::nullopt}; }

std::size_t all_held(const Harness& harness) {
  return harness.counters.held_heads.get() + harness.counters.held_requests.get() +
         harness.counters.held_answers.get() + harness.counters.held_http2.get();
}

struct Held final : Holder {
  explicit Held(std::string name) : caller{Caller::Door::kTcp, std::move(name), std::nullopt} {}
  std::size_t held_bytes() const override { return bytes; }
  const Caller& holder() const override { return caller; }
  std::size_t received_bytes() const override { return received; }
  void drop_received() override {
    all->received_bytes -= received - received / 2;
    received /= 2;
  }
  std::size_t bytes = 0, received = 0;
  Holdings* all = nullptr;
  Caller caller;
};

TEST_CASE("who keeps the most of requests gives up some, until others have room") {
  ServerBounds bounds;
  bounds.received_bytes_all = 1'000;
  Holdings all(bounds);
  Held first("a:1"), second("b:2"), third("c:3");
  for (Held* each : {&first, &second, &third}) {
    all.join(*each);
    each->all = &all;
  }
  first.received = 600, second.received = 400, third.received = 300;
  all.received_bytes = 1'300;
  CHECK(!all.make_room_for_received(first));  // no other connection keeps more
  CHECK(all.received_bytes == 1'300);
  CHECK(all.make_room_for_received(third));
  CHECK(first.received == 300);
  CHECK(second.received == 400);
  third.received = 500;
  all.received_bytes = 1'200;
  CHECK(!all.make_room_for_received(third));
  third.received = 350;
  all.received_bytes = 1'050;
  CHECK(all.make_room_for_received(third));
  CHECK(second.received == 200);
}

TEST_CASE("a connection may have as much as is free, and some of its own in any case") {
  ServerBounds bounds;
  bounds.held_bytes = 1'000;
  bounds.held_bytes_spare = 200;
  bounds.held_bytes_own = 10;
  Holdings all(bounds);
  Held first("a:1"), second("b:2");
  all.join(first);
  all.join(second);
  CHECK(all.allows(1'000));
  all.output_bytes = first.bytes = 500;
  CHECK(all.allows(500));
  all.head_bytes = second.bytes = 300;
  CHECK(!all.allows(second.bytes));
  CHECK(all.allows(200));
  all.http2_bytes = 300;
  CHECK(all.allows(10));
  CHECK(!all.allows(11));
  CHECK(all.allows_http2(100));
  CHECK(!all.allows_http2(101));
  CHECK(all.refusal(second, 1) ==
        "too much memory is taken for clients: 1100 of 1000 bytes, the most (500) by a:1, one of 2 connections; this "
        "one has 300 and may have 10");
  CHECK(all.refusal(first, 2) ==
        "too much memory is taken for clients: 1100 of 1000 bytes, the most (500) by this connection");
}

// Each connection could hold 1 MiB of heads, and 1,536 streams.
TEST_CASE("open calls of many connections have one bound, and a newcomer is served") {
  ServerBounds bounds;
  bounds.held_bytes = 2'000'000;
  Harness harness(bounds);
  Headers large = RawClient::grpc_headers("/t.T/Hold");
  large.emplace_back("x-large", std::string(6'000, 'x'));
  std::vector<std::unique_ptr<RawClient>> greedy;
  std::vector<std::int32_t> last;
  for (int i = 0; i < 10; ++i) {
    greedy.push_back(harness.client(caller(i)));
    for (int call = 0; call < 100; ++call) last.push_back(greedy.back()->call(large, "", /*end=*/false));
    harness.pass_ms(1);
    harness.run_all(*greedy.back());
  }
  CHECK(all_held(harness) < 2'000'000 + 10 * bounds.held_bytes_own);
  Answer& refused = greedy.back()->answer(last.back());
  CHECK(refused.status() == kResourceExhausted);
  CHECK_THAT(refused.message(), StartsWith("too much memory is taken for clients: "));
  CHECK_THAT(refused.message(), Contains(" by test:0, one of 10 ") && EndsWith("; nothing was done"));
  auto newcomer = harness.client(caller(11));
  const auto answered = newcomer->call("/t.T/Echo", framed("x"));
  harness.run_all(*newcomer);
  CHECK(newcomer->answer(answered).status() == 0);

  greedy.clear();
  newcomer.reset();
  while (harness.server().connections() > 0) harness.rounds();
  CHECK(all_held(harness) == 0);
}

// Each connection whose answers had all left could begin one call, whatever the others held.
TEST_CASE("answers that many clients do not take have one bound, and others have theirs") {
  ServerBounds bounds;
  bounds.held_bytes = 2'000'000;
  bounds.output_bytes_all = 500'000;
  Harness harness(bounds);
  harness.methods.add("/t.T/Get", {.unary = [](Call call, std::string_view) {
                        call.send_bytes(std::string(200'000, 'x'));
                        call.finish(grpc::Status::OK);
                      }});
  std::vector<std::unique_ptr<RawClient>> greedy;
  std::vector<Answer*> answers;
  for (int i = 0; i < 20; ++i) {
    greedy.push_back(std::make_unique<RawClient>(harness.connect(caller(i)),
                                                 RawClient::Options{.auto_window = false, .stream_window = 0}));
    harness.run_all(*greedy.back());
    answers.push_back(&greedy.back()->answer(greedy.back()->call("/t.T/Get", framed(""))));
    harness.run_all(*greedy.back());
  }
  CHECK(all_held(harness) < 2'000'000 + 20 * bounds.held_bytes_own);
  const auto refused = [](Answer* answer) { return answer->status() == kResourceExhausted; };
  CHECK(std::count_if(answers.begin(), answers.end(), refused) >= 10);
  CHECK_THAT(answers.back()->message(),
             EndsWith("; the request was carried out, but its answer of 200005 bytes is lost"));
  auto newcomer = harness.client(caller(21));
  const auto answered = newcomer->call("/t.T/Echo", framed(std::string(10'000, 'x')));
  harness.run_all(*newcomer);
  CHECK(newcomer->answer(answered).status() == 0);
}

// Takes all that is free of 2,000,000 bytes, with the heads of open calls.
std::vector<std::unique_ptr<RawClient>> fill(Harness& harness) {
  Headers large = RawClient::grpc_headers("/t.T/Hold");
  large.emplace_back("x-large", std::string(6'000, 'x'));
  std::vector<std::unique_ptr<RawClient>> greedy;
  for (int i = 100; i < 110; ++i) {
    greedy.push_back(harness.client(caller(i)));
    for (int call = 0; call < 100; ++call) greedy.back()->call(large, "", /*end=*/false);
    harness.pass_ms(1);
    harness.run_all(*greedy.back());
  }
  return greedy;
}

// So that HTTP/2 has more memory for it than each connection may have in any case.
std::vector<std::int32_t> open_calls(Harness& harness, RawClient& client) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 600; ++i) ids.push_back(client.call("/t.T/Echo", "", /*end=*/false));
  harness.run_all(client);
  return ids;
}

// The stream of the call that was to be refused had no room, so the connection ended with all its calls.
TEST_CASE("a connection that is refused a call for the memory of others keeps the calls that it has") {
  ServerBounds bounds;
  bounds.held_bytes = 2'000'000;
  Harness harness(bounds);
  auto client = harness.client(caller(1));
  const std::vector<std::int32_t> open = open_calls(harness, *client);
  const auto greedy = fill(harness);
  std::vector<std::int32_t> refused;
  for (int i = 0; i < 200; ++i) refused.push_back(client->call("/t.T/Echo", framed("x")));
  harness.run_all(*client);
  REQUIRE(client->goaways().empty());
  for (const std::int32_t id : refused) CHECK(client->answer(id).status() == kResourceExhausted);
  client->send(open.front(), framed("x"), /*end=*/true);
  harness.run_all(*client);
  CHECK(client->answer(open.front()).status() == 0);
}

// Nothing looked for that after the last frame of a message, and the client waited for its own deadline.
TEST_CASE("a call whose trailers have no room ends with its connection, and does not hang") {
  ServerBounds bounds;
  bounds.held_bytes = 2'000'000;
  bounds.held_bytes_spare = 0;
  Harness harness(bounds);
  RawClient client(harness.connect(caller(1)), {.auto_window = false, .stream_window = 0});
  open_calls(harness, client);
  const std::int32_t id = client.call("/t.T/Echo", framed(std::string(1'000, 'x')));
  harness.run_all(client);
  const auto greedy = fill(harness);
  REQUIRE(client.goaways().empty());
  nghttp2_submit_window_update(client.h2(), NGHTTP2_FLAG_NONE, id, 10'000);
  harness.run_all(client);
  CHECK(client.answer(id).body.size() == 1'005);
  REQUIRE(client.goaways().size() == 1);
  CHECK(client.goaways().front().first == NGHTTP2_ENHANCE_YOUR_CALM);
  CHECK_THAT(client.goaways().front().second, StartsWith("too much memory is taken for clients: "));
}

// Frames that wait to be sent, such as the resets of streams beyond their bound, were bounded by connection alone.
TEST_CASE("HTTP/2's memory of a connection that reads nothing ends it when all is taken") {
  ServerBounds bounds;
  bounds.held_bytes = 900'000;
  bounds.held_bytes_spare = 100'000;
  bounds.resets_burst = 1'000'000;
  Harness harness(bounds);
  const Descriptor hostile = harness.connect(caller(1));
  std::string frames = std::string(kClientPreface) + settings_frame();  // and no answer to the server's
  const std::string block = header_block(RawClient::grpc_headers("/t.T/Hold"));
  std::uint32_t stream = 1;
  for (int round = 0; round < 2'000 && harness.server().connections() == 1; ++round) {
    while (frames.size() < 100'000) {
      frames += frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, stream, block);
      stream += 2;
    }
    frames.erase(0, write_all(hostile, frames));
    harness.pass_ms(1);
    CHECK(all_held(harness) < 1'100'000);
    if (harness.counters.ended_flooding.get() > 0) break;
  }
  CHECK(harness.counters.ended_flooding.get() == 1);
  std::string received;
  for (int i = 0; i < 200 && goaway_in(received).first < 0; ++i) {
    received += read_all(hostile);
    harness.rounds();
  }
  CHECK(goaway_in(received).first == NGHTTP2_ENHANCE_YOUR_CALM);
  CHECK_THAT(goaway_in(received).second, StartsWith("too much memory is taken for clients: "));
  auto newcomer = harness.client(caller(2));
  const auto answered = newcomer->call("/t.T/Echo", framed("x"));
  harness.run_all(*newcomer);
  CHECK(newcomer->answer(answered).status() == 0);
}

}  // namespace
}  // namespace ingot::rpc
