// What is kept for a client is bounded, and calls that wait take turns.
#include <catch2/catch.hpp>
#include <string>

#include "services/rpc/wire/limits.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

constexpr int kResourceExhausted = 8;

TEST_CASE("so many calls are taken on; the others wait by turns, and one connection cannot hold up another") {
  ServerBounds bounds;
  bounds.calls_taken_on = 10;
  Harness harness(bounds);
  auto busy = harness.client();
  auto other = harness.client();
  for (int i = 0; i < 100; ++i) busy->call("/t.T/Hold", framed(""));
  harness.run(*busy);
  CHECK(harness.held.size() == 10);
  CHECK(harness.counters.calls_waited.get() > 0);
  const auto id = other->call("/t.T/Echo", framed("other"));
  harness.run(*other);
  CHECK_FALSE(other->answer(id).closed);
  harness.held[0].finish(grpc::Status::OK);
  harness.held[1].finish(grpc::Status::OK);
  harness.run(*other, *busy);
  CHECK(other->answer(id).status() == 0);
  for (std::size_t i = 0; i < harness.held.size(); ++i) {
    harness.held[i].finish(grpc::Status::OK);
    harness.run(*busy);
  }
  CHECK(harness.held.size() == 100);
}

TEST_CASE("while nothing finishes, more calls are taken on after a while, so that a standstill can be asked about") {
  ServerBounds bounds;
  bounds.calls_taken_on = 10;
  Harness harness(bounds);
  auto busy = harness.client();
  for (int i = 0; i < 25; ++i) busy->call("/t.T/Hold", framed(""));
  harness.run(*busy);
  harness.pass_ms(1);
  CHECK(harness.held.size() == 10);
  CHECK(harness.server().deadline_ns() <= harness.now_ns + kTakenOnStuckMs * 1'000'000);
  harness.pass_ms(kTakenOnStuckMs);
  CHECK(harness.held.size() == 20);
  harness.pass_ms(kTakenOnStuckMs);
  CHECK(harness.held.size() == 25);
}

TEST_CASE("large calls begin few at a time, by turns, and small ones pass them") {
  ServerBounds bounds;
  bounds.large_calls = 2;
  Harness harness(bounds);
  std::vector<std::pair<std::string, Call>> large;
  harness.methods.add("/t.T/Range", {.weigh =
                                         [](std::string_view request) {
                                           return request.starts_with("small") ? Method::Weight::kSmall
                                                                               : Method::Weight::kLarge;
                                         },
                                     .unary =
                                         [&](Call call, std::string_view request) {
                                           if (request.starts_with("small")) return call.finish(grpc::Status::OK);
                                           large.emplace_back(request, call);
                                         }});
  auto greedy = harness.client();
  auto modest = harness.client();
  for (int i = 0; i < 10; ++i) greedy->call("/t.T/Range", framed("greedy"));
  harness.run(*greedy);
  CHECK(large.size() == 2);
  modest->call("/t.T/Range", framed("modest"));
  const auto small = greedy->call("/t.T/Range", framed("small"));
  harness.run(*greedy, *modest);
  CHECK(greedy->answer(small).status() == 0);
  CHECK(large.size() == 2);
  large[0].second.finish(grpc::Status::OK);
  harness.run(*greedy, *modest);
  REQUIRE(large.size() == 3);
  CHECK(large[2].first == "modest");  // not the greedy one's eight others
}

TEST_CASE("a call that was given up keeps its place until its handler has ended, also without its connection") {
  ServerBounds bounds;
  bounds.large_calls = 1;
  bounds.calls_taken_on = 2;
  Harness harness(bounds);
  std::vector<Call> begun;
  harness.methods.add("/t.T/Large", {.weight = Method::Weight::kLarge,
                                     .unary = [&](Call call, std::string_view) { begun.push_back(call); }});
  auto rapid = harness.client();
  for (int i = 0; i < 50; ++i) {
    const auto id = rapid->call("/t.T/Large", framed(""));
    harness.run(*rapid);
    rapid->reset(id);
    harness.run(*rapid);
  }
  REQUIRE(begun.size() == 1);
  CHECK_FALSE(begun[0].open());
  CHECK(harness.server().open_calls() == 0);
  rapid.reset();
  harness.rounds();
  auto other = harness.client();
  const auto large = other->call("/t.T/Large", framed(""));
  const auto small = other->call("/t.T/Echo", framed("small"));
  harness.run(*other);
  CHECK(other->answer(small).status() == 0);  // it waits for no large one
  CHECK(begun.size() == 1);
  begun[0].finish(grpc::Status::OK);
  begun[0].finish(grpc::Status::OK);  // does nothing
  harness.run(*other);
  REQUIRE(begun.size() == 2);
  begun[1].finish(grpc::Status::OK);
  harness.run(*other);
  CHECK(other->answer(large).status() == 0);
}

TEST_CASE("an overdue call keeps its place until its handler has ended its work") {
  ServerBounds bounds;
  bounds.calls_taken_on = 1;
  Harness harness(bounds);
  auto client = harness.client();
  Headers headers = RawClient::grpc_headers("/t.T/Hold");
  headers.emplace_back("grpc-timeout", "5m");
  const auto late = client->call(headers, framed(""));
  harness.run(*client);
  harness.pass_ms(6);
  harness.run(*client);
  CHECK(client->answer(late).status() == static_cast<int>(grpc::StatusCode::DEADLINE_EXCEEDED));
  const auto id = client->call("/t.T/Echo", framed("x"));
  harness.run(*client);
  CHECK_FALSE(client->answer(id).closed);
  harness.held.at(0).finish(grpc::Status::OK);
  harness.run(*client);
  CHECK(client->answer(id).status() == 0);
}

TEST_CASE("reads of large values begin few at a time, and by turns once that is known") {
  ServerBounds bounds;
  bounds.unknown_bytes = 4 * kAnswerBytesGuess;
  bounds.large_calls = 2;
  Harness harness(bounds);
  std::vector<Call> begun;
  harness.methods.add("/t.T/Get", {.weight = Method::Weight::kUnknown,
                                   .unary = [&](Call call, std::string_view) { begun.push_back(call); }});
  auto greedy = harness.client();
  for (int i = 0; i < 5; ++i) greedy->call("/t.T/Get", framed(""));
  harness.run(*greedy);
  CHECK(begun.size() == 4);
  for (int i = 0; i < 3; ++i) greedy->call("/t.T/Get", framed(""));
  harness.run(*greedy);
  CHECK(harness.counters.calls_waited.get() == 4);  // the connection is read all the same
  begun[0].send_bytes(std::string(200'000, 'x'));
  begun[0].finish(grpc::Status::OK);
  harness.run(*greedy);
  CHECK(begun.size() == 8);
  for (int i = 0; i < 20; ++i) greedy->call("/t.T/Get", framed(""));
  harness.run(*greedy);
  CHECK(begun.size() == 10);  // they are large ones now
}

TEST_CASE("no call of a client begins that does not read; the client goes, its memory comes back") {
  ServerBounds bounds;
  bounds.output_begin_bytes = 1'000'000;
  Harness harness(bounds);
  int begun = 0;
  harness.methods.add("/t.T/Big", {.weight = Method::Weight::kLarge, .unary = [&](Call call, std::string_view) {
                                     ++begun;
                                     call.send_bytes(std::string(900'000, 'x'));
                                     call.finish(grpc::Status::OK);
                                   }});
  auto slow = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  auto other = harness.client();
  for (int i = 0; i < 40; ++i) slow->call("/t.T/Big", framed(""));
  harness.run(*slow);
  CHECK(begun == 2);
  const auto id = other->call("/t.T/Big", framed(""));
  harness.run(*other);
  CHECK(other->answer(id).status() == 0);
  for (int i = 0; i < 3; ++i) harness.pass_ms(kStalledWriteMs / 2 + 1);
  CHECK(harness.counters.ended_stalled.get() == 1);
  CHECK(harness.server().connections() == 1);
  CHECK(begun == 3);
}

TEST_CASE("a client that reads slowly, but reads, keeps its connection") {
  Harness harness;
  harness.methods.add("/t.T/Big", {.unary = [&](Call call, std::string_view) {
                        call.send_bytes(std::string(1'000'000, 'x'));
                        call.finish(grpc::Status::OK);
                      }});
  auto slow = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  const auto id = slow->call("/t.T/Big", framed(""));
  harness.run(*slow);
  for (int i = 0; i < 40 && !slow->answer(id).closed; ++i) {
    harness.pass_ms(kStalledWriteMs / 3);
    nghttp2_session_consume(slow->h2(), id, 40'000);
    harness.run(*slow);
  }
  CHECK(slow->answer(id).status() == 0);
  CHECK(slow->answer(id).body.size() == 1'000'005);
}

// Regression: each open call could keep 8 KiB of metadata, for a few bytes that its client sends.
TEST_CASE("the metadata of a connection's open calls has a bound") {
  ServerBounds bounds;
  bounds.head_bytes = 100'000;
  Harness harness(bounds);
  auto client = harness.client();
  Headers large = RawClient::grpc_headers("/t.T/Hold");
  large.emplace_back("x-large", std::string(6'000, 'x'));
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 30; ++i) ids.push_back(client->call(large, framed("")));
  harness.run_all(*client);
  CHECK(harness.held.size() == 16);
  CHECK(client->answer(ids.back()).status() == kResourceExhausted);
  CHECK(harness.server().held_bytes() <= 100'000);
  for (const Call& call : std::exchange(harness.held, {})) call.finish(grpc::Status::OK);
  harness.run_all(*client);
  CHECK(harness.server().held_bytes() == 0);
  const auto next = client->call(large, framed(""));
  harness.run_all(*client);
  REQUIRE(harness.held.size() == 1);
  harness.held[0].finish(grpc::Status::OK);
  harness.run_all(*client);
  CHECK(client->answer(next).status() == 0);
}

// Regression: answers to its pings counted as what it took.
TEST_CASE("a client that takes nothing of its answer is ended, whatever else it takes") {
  Harness harness;
  auto client = std::make_unique<RawClient>(harness.connect(),
                                            RawClient::Options{.auto_window = false, .stream_window = 0});
  harness.run(*client);
  client->call("/t.T/Echo", framed("x"));
  for (int i = 0; i < 4; ++i) {
    harness.run(*client);
    harness.pass_ms(kStalledWriteMs / 4 + 1);
    nghttp2_submit_settings(client->h2(), NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  CHECK(harness.counters.ended_stalled.get() == 1);
  CHECK(harness.server().connections() == 0);
}

TEST_CASE("a socket that is not read holds up nothing, and is closed") {
  Harness harness;
  auto deaf = harness.client();
  auto other = harness.client();
  harness.run(*deaf);
  deaf->read_nothing(true);
  for (int i = 0; i < 10; ++i) deaf->call("/t.T/Echo", framed(std::string(60'000, 'x')));
  harness.run(*deaf, *other);
  const auto id = other->call("/t.T/Echo", framed("x"));
  harness.run(*other);
  CHECK(other->answer(id).status() == 0);
  for (int i = 0; i < 3; ++i) harness.pass_ms(kStalledWriteMs);
  CHECK(harness.server().connections() == 1);
}

TEST_CASE("many large requests at a time of one connection are all completed, the oldest first") {
  ServerBounds bounds;
  bounds.received_bytes_low = 100'000;
  Harness harness(bounds);
  auto client = harness.client();
  std::vector<std::int32_t> ids;
  const std::string message(1'000'000, 'x');
  for (int i = 0; i < 30; ++i) ids.push_back(client->call("/t.T/Echo", framed(message)));
  harness.run(*client);
  for (const auto id : ids) {
    CHECK(client->answer(id).status() == 0);
    CHECK(client->answer(id).body.size() == message.size() + kPrefixBytes);
  }
}

// Also a regression: clients that completed no request had all of the room, and others' requests were refused.
TEST_CASE("requests that are never completed are refused at a connection's bound, and for all who keep the most") {
  ServerBounds bounds;
  bounds.received_bytes_low = 200'000;
  bounds.received_bytes = 1'000'000;
  bounds.received_bytes_all = 3'000'000;
  Harness harness(bounds);
  const std::string half = framed(std::string(60'000, 'x')).substr(0, 50'000);
  struct Greedy {
    std::unique_ptr<RawClient> client;
    std::vector<std::int32_t> ids;
    auto kept() const {
      return std::count_if(ids.begin(), ids.end(),
                           [&](std::int32_t id) { return client->answer(id).status() != kResourceExhausted; });
    }
  };
  std::vector<Greedy> all;
  for (int i = 0; i < 12; ++i) {
    Greedy& one = all.emplace_back(Greedy{harness.client(), {}});
    for (int j = 0; j < 30; ++j) one.ids.push_back(one.client->call("/t.T/Echo", half, false));
    harness.run(*one.client);
    if (i < 2) CHECK(one.kept() == 20);  // its own bound
    const auto put = harness.client();
    const auto id = put->call("/t.T/Echo", framed(std::string(200'000, 'x')));
    harness.run(*put);
    CHECK(put->answer(id).status() == 0);
    CHECK(harness.server().held_bytes() <= 3'200'000);
  }
  for (Greedy& one : all) harness.run(*one.client);
  const auto less = [](const Greedy& a, const Greedy& b) { return a.kept() < b.kept(); };
  const auto [least, most] = std::minmax_element(all.begin(), all.end(), less);
  CHECK(least->kept() >= 1);
  CHECK(most->kept() <= 6);
  all.clear();
  harness.rounds();
  CHECK(harness.server().held_bytes() == 0);  // the memory has come back
}

TEST_CASE("calls above the bound of streams wait at the client") {
  ServerBounds bounds;
  bounds.streams_per_connection = 5;
  Harness harness(bounds);
  auto client = harness.client();
  harness.run(*client);
  for (int i = 0; i < 12; ++i) client->call("/t.T/Hold", framed(""));
  harness.run(*client);
  CHECK(harness.held.size() == 5);
  for (std::size_t i = 0; i < harness.held.size(); ++i) {
    harness.held[i].finish(grpc::Status::OK);
    harness.run(*client);
  }
  CHECK(harness.held.size() == 12);
}

// Regression: watch streams took all streams of a connection, and its put waited for its deadline without a word.
TEST_CASE("streams of messages never take all streams of a connection, and who opens too many is told at once") {
  class Idle final : public StreamHandler {
   public:
    void message(std::string_view) override {}
    void half_closed() override {}
    void writable() override {}
  };
  Harness harness;
  const auto idle = [](Call) { return std::make_unique<Idle>(); };
  harness.methods.add("/t.T/Watch", {.stream = idle, .bounds_output = true});
  harness.methods.set_fallback([&](Call call, std::string_view) { return idle(call); });
  auto client = harness.client();
  harness.run_all(*client);
  const auto open = [&](const std::string& path, int number) {
    std::vector<std::int32_t> ids;
    for (int i = 0; i < number; ++i) ids.push_back(client->call(path, "", false));
    harness.run_all(*client);
    return ids;
  };
  const auto refused = [&](const std::vector<std::int32_t>& ids) {
    return std::count_if(ids.begin(), ids.end(),
                         [&](std::int32_t id) { return client->answer(id).status() == kResourceExhausted; });
  };
  const std::vector<std::int32_t> watches = open("/t.T/Watch", 1'300);
  CHECK(harness.server().open_calls() == kStreamingCallsMax);
  CHECK(refused(watches) == 1'300 - kStreamingCallsMax);
  CHECK(client->answer(watches.back()).message() ==
        "too many open streams on this connection for a call of /t.T/Watch: 1024 at most; use one of them for several "
        "requests, or another connection");
  const std::vector<std::int32_t> passed_on = open("/o.O/Passed", 300);
  CHECK(refused(passed_on) == 300 - (kStreamingCallsAllMax - kStreamingCallsMax));
  const auto put = client->call("/t.T/Echo", framed("x"));
  harness.run_all(*client);
  CHECK(client->answer(put).status() == 0);
  client->reset(watches[0]);
  client->reset(passed_on[0]);
  harness.run_all(*client);
  CHECK(refused(open("/t.T/Watch", 1)) == 1);  // the other calls count, too
  CHECK(refused(open("/o.O/Passed", 3)) == 1);
}

// What all connections hold was no bound for calls with small answers.
TEST_CASE("while a loop holds too much, calls begin at connections only whose answers have left") {
  ServerBounds bounds;
  bounds.output_bytes_all = 150'000;
  Harness harness(bounds);
  harness.methods.add("/t.T/Get", {.unary = [](Call call, std::string_view) {
                        call.send_bytes(std::string(60'000, 'x'));
                        call.finish(grpc::Status::OK);
                      }});
  std::vector<std::unique_ptr<RawClient>> greedy;
  for (int i = 0; i < 4; ++i) {
    greedy.push_back(
        std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false, .stream_window = 0}));
    harness.run_all(*greedy.back());
    for (int call = 0; call < 5; ++call) greedy.back()->call("/t.T/Get", framed(""));
    harness.run_all(*greedy.back());
  }
  CHECK(harness.server().held_bytes() <= 150'000 + 4 * 60'005);
  auto other = harness.client();
  for (int i = 0; i < 5; ++i) {
    const auto id = other->call("/t.T/Get", framed(""));
    harness.run_all(*other);
    CHECK(other->answer(id).status() == 0);
  }
}

}  // namespace
}  // namespace ingot::rpc
