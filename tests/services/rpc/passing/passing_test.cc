// Calls that a loop passes on: what reaches the inner server, what comes back, and what bounds them.
#include <algorithm>

#include "services/rpc/passing/limits.h"
#include "tests/services/rpc/passing/passing_fixture.h"
#include "tests/services/rpc/server/raw_client.h"

namespace ingot::rpc {
namespace {

std::string value_in(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata, const std::string& name) {
  const auto found = metadata.find(name);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

TEST_CASE("messages go both ways in order, one after the other, with metadata on both ends") {
  PassingServer server;
  TestCall call(server.connect(), "Echo", {{"x-test", "a value"}});
  for (const std::size_t bytes : {0u, 1u, 1000u, 70'000u, 1'500'000u}) {
    const std::string message(bytes, static_cast<char>('a' + bytes % 26));
    std::string answer;
    REQUIRE(call.write(message));
    REQUIRE(call.read(answer));
    CHECK(answer == message);
  }
  REQUIRE(call.writes_done());
  std::string none;
  CHECK_FALSE(call.read(none));
  CHECK(call.finish().ok());
  CHECK(value_in(call.context.GetServerInitialMetadata(), "x-initial") == "first");
  CHECK(value_in(call.context.GetServerInitialMetadata(), "x-initial-bin") == std::string("\x00\x01\xff", 3));
  CHECK(value_in(call.context.GetServerTrailingMetadata(), "x-trailing") == "a value");
}

TEST_CASE("a status arrives with its text and its details") {
  PassingServer server;
  TestCall call(server.connect(), "Fail");
  std::string none;
  CHECK_FALSE(call.read(none));
  const grpc::Status status = call.finish();
  CHECK(status.error_code() == grpc::StatusCode::DATA_LOSS);
  CHECK(status.error_message() == "lost: 100 % of \xc3\xbc");
  CHECK(status.error_details() == std::string("details\x00\x01", 9));
}

TEST_CASE("the caller that the inner server sees is the connection's, whatever the client says") {
  PassingServer server;
  const std::string honest = TestCall(server.connect(), "Caller").exchange("");
  CHECK_THAT(honest, Catch::StartsWith("127.0.0.1:"));
  const std::string forged = encode_caller({Caller::Door::kUnix, "unix:forged", Caller::Credentials{0, 0, 1}});
  const std::string lie =
      TestCall(server.connect(), "Caller", {{kCallerKey, forged}, {"x-test", "kept"}}).exchange("");
  CHECK_THAT(lie, Catch::StartsWith("127.0.0.1:"));
  CHECK_THAT(lie, Catch::EndsWith(",kept"));
}

TEST_CASE("a deadline is passed on, and ends a call that waits") {
  PassingServer server;
  const int left_ms = std::stoi(TestCall(server.connect(), "Left", {}, 600'000).exchange(""));
  CHECK(left_ms > 0);
  CHECK(left_ms <= 601'000);  // gRPC C++ sends so long a time in whole seconds, rounded up
  TestCall waits(server.connect(), "Wait", {}, 50);
  std::string none;
  CHECK_FALSE(waits.read(none));
  CHECK(waits.finish().error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  wait_until([&] { return server.methods.cancelled.load() == 1 && server.budget.open() == 0; });
}

// Go's clients write the furthest deadline that they know as 2562047H, which is more than a clock of nanoseconds holds.
TEST_CASE("a deadline that is as good as none ends nothing") {
  PassingServer server;
  for (const char* timeout : {"2562047H", "99999999H"}) {
    CAPTURE(timeout);
    RawClient client(server.connect_raw());
    Headers headers = RawClient::grpc_headers("/test.Test/Caller");
    headers.emplace_back("grpc-timeout", timeout);
    const auto call = client.call(headers, framed(""));
    wait_until([&] {
      client.exchange();
      return client.answer(call).closed;
    });
    CHECK(client.answer(call).status() == grpc::StatusCode::OK);
  }
}

TEST_CASE("a call that its client gives up is cancelled at the inner server, and so is that of a lost connection") {
  PassingServer server;
  {
    TestCall call(server.connect(), "Wait");
    wait_until([&] { return server.budget.open() == 1; });
    call.context.TryCancel();
    CHECK(call.finish().error_code() == grpc::StatusCode::CANCELLED);
  }
  wait_until([&] { return server.methods.cancelled.load() == 1 && server.budget.open() == 0; });
}

TEST_CASE("a client that does not read stops the inner server after a few messages") {
  PassingServer server;
  TestCall call(server.connect(), "Pour");
  std::string message;
  REQUIRE(call.read(message));
  CHECK(message.size() == TestMethods::kPouredBytes);
  int before = -1;
  while (before != server.methods.poured.load()) {  // until it stands still
    before = server.methods.poured.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  // What the client's window, its socket and the connection's output take, far below what it could have poured.
  CHECK(before < 500);
  for (int i = 0; i < 1000; ++i) REQUIRE(call.read(message));
  CHECK(server.methods.poured.load() > before);
}

TEST_CASE("beyond their bounds calls are refused with a sentence, and others go on") {
  PassingServer server;
  const auto crowded = server.connect();
  std::vector<std::unique_ptr<TestCall>> open;
  for (int i = 0; i < kPassedCallsPerCallerMax; ++i) open.push_back(std::make_unique<TestCall>(crowded, "Wait"));
  wait_until([&] { return server.budget.open() == kPassedCallsPerCallerMax; });
  TestCall one_more(crowded, "Wait");
  std::string none;
  CHECK_FALSE(one_more.read(none));
  const grpc::Status refused = one_more.finish();
  CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK_THAT(refused.error_message(),
             Catch::Contains(std::to_string(kPassedCallsPerCallerMax) + " calls of this kind are open"));
  CHECK_FALSE(TestCall(server.connect(), "Caller").exchange("").empty());
  open.clear();
  wait_until([&] { return server.budget.open() == 0; });
  CHECK_FALSE(TestCall(crowded, "Caller").exchange("").empty());
}

TEST_CASE("calls that last keep no place from a short one: the idle one of the caller with the most ends") {
  PassingServer server;
  const auto modest = server.connect();
  TestCall kept(modest, "Wait");  // older than all others
  std::vector<std::unique_ptr<TestCall>> open;
  const auto hold = [&](int number) {
    const auto connection = server.connect();
    for (int i = 0; i < number; ++i) {
      const int before = static_cast<int>(open.size()) + 1;
      wait_until([&] { return server.budget.open() == before; });
      open.push_back(std::make_unique<TestCall>(connection, "Wait"));
    }
  };
  hold(kPassedCallsPerCallerMax);
  while (static_cast<int>(open.size()) + 1 < kPassedCallsMax) {
    hold(std::min(kPassedCallsPerCallerMax - 1, kPassedCallsMax - 1 - static_cast<int>(open.size())));
  }
  wait_until([&] { return server.budget.open() == kPassedCallsMax; });
  CHECK_FALSE(TestCall(modest, "Caller").exchange("").empty());
  std::string none;
  CHECK_FALSE(open.front()->read(none));
  CHECK(open.front()->finish().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  wait_until([&] { return server.budget.open() == kPassedCallsMax - 1; });
  CHECK(server.methods.cancelled.load() == 1);
  kept.context.TryCancel();
  CHECK(kept.finish().error_code() == grpc::StatusCode::CANCELLED);
}

// Regression: a watch of the server's health that its client kept open made each stop take five seconds.
TEST_CASE("a server that leaves ends calls that wait for their clients, and none that its clients wait for") {
  PassingServer server;
  TestCall silent(server.connect(), "Echo"), answered(server.connect(), "Echo"), awaiting(server.connect(), "Wait");
  REQUIRE(answered.write("hello"));
  std::string message;
  REQUIRE(answered.read(message));
  REQUIRE(awaiting.write("a question"));
  wait_until([&] { return server.budget.open() == 3 && server.methods.begun.load() == 3; });
  server.drain();
  for (TestCall* each : {&silent, &answered}) {
    CHECK_FALSE(each->read(message));
    const grpc::Status status = each->finish();
    CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
    CHECK(status.error_message() == "the daemon is leaving");
  }
  wait_until([&] { return server.budget.open() == 1; });
  awaiting.context.TryCancel();
  CHECK(awaiting.finish().error_code() == grpc::StatusCode::CANCELLED);
}

TEST_CASE("a loop that ends takes its open calls with it") {
  PassingServer server;
  TestCall first(server.connect(), "Wait"), second(server.connect(), "Pour"), third(server.connect(), "Echo");
  REQUIRE(third.write("unanswered"));
  wait_until([&] { return server.budget.open() == 3; });
  server.end();
  CHECK(server.budget.open() == 0);
  CHECK(first.finish().error_code() == grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ingot::rpc
