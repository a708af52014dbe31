// Which of the waiting calls gRPC C++ gets in a round. The rounds are the test's, so nothing depends on time.
#include <cstdint>
#include <vector>

#include "services/rpc/passing/limits.h"
#include "services/rpc/server/limits.h"
#include "tests/services/rpc/passing/passing_fixture.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

Caller caller(const std::string& address) { return {Caller::Door::kTcp, address, std::nullopt}; }

// A server whose loop is the test.
class Rounds {
 public:
  Rounds() {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&methods);
    inner_ = builder.BuildAndStart();
    REQUIRE(inner_ != nullptr);
    passing_ = std::make_unique<Passing>(inner_->InProcessChannel({}), *tasks_, budget,
                                         [this](std::size_t bytes) { freed_bytes += bytes; });
    harness.methods.set_fallback([this](Call call, std::string_view path) { return passing_->begin(call, path); });
  }
  ~Rounds() {
    passing_.reset();
    inner_->Shutdown();
  }

  // The loop's tasks, then those of the object under test, as much as the pace allows.
  void round() {
    now_ns += kSecondNs;
    round_at_once();
  }
  void round_at_once() {
    tasks_->poll(now_ns);
    passing_->poll(now_ns);
  }
  // A round in which the loop comes to the object under test before it hears what gRPC's threads have handed over.
  void pass_ms(std::uint64_t ms) {
    now_ns += ms * 1'000'000;
    passing_->poll(now_ns);
  }
  void drain() { passing_->drain(); }
  bool has_tasks() const { return tasks_->readable(); }
  // As the loop asks before it sleeps.
  bool may_sleep() const { return !passing_->readable(); }
  std::uint64_t deadline_ns() const { return passing_->deadline_ns(); }

  TestMethods methods;
  PassedCalls budget;
  std::size_t freed_bytes = 0;
  std::uint64_t now_ns = 0;
  Harness harness;

 private:
  std::unique_ptr<grpc::Server> inner_;
  std::unique_ptr<LoopTasks> tasks_ = *LoopTasks::create();
  std::unique_ptr<Passing> passing_;
};

// 20,000 watches of the server's health, begun at once, held up all other clients for 158 ms.
TEST_CASE("gRPC C++ gets few calls in a round, and one caller's many do not come before another's first") {
  Rounds loop;
  const auto many = loop.harness.client(caller("many")), one = loop.harness.client(caller("one"));
  constexpr int kMany = 100;
  for (int i = 0; i < kMany; ++i) many->call("/test.Test/Wait", "", false);
  loop.harness.run(*many);
  const auto asked = one->call("/test.Test/Caller", framed(""));
  loop.harness.run(*one);
  CHECK(loop.budget.open() == kMany + 1);
  CHECK(loop.methods.begun == 0);

  loop.round();
  wait_until([&] { return loop.methods.begun == kPassedStartsPerRound; });
  CHECK(loop.methods.asked == 1);
  for (int rounds = 1; !one->answer(asked).closed; ++rounds) {
    CHECK(loop.methods.begun <= rounds * kPassedStartsPerRound);
    loop.round();
    loop.harness.run(*one);
  }
  while (loop.methods.begun < kMany + 1) loop.round();
}

TEST_CASE("calls that their client gives up before their turn leave the line, and gRPC C++ never hears of them") {
  Rounds loop;
  const auto client = loop.harness.client(caller("client"));
  constexpr int kGivenUp = 20;
  for (int i = 0; i < kGivenUp; ++i) {
    const auto id = client->call("/test.Test/Wait", "", false);
    loop.harness.run(*client);
    client->reset(id);
  }
  const auto asked = client->call("/test.Test/Echo", framed("a message that waits for its call's turn"));
  loop.harness.run(*client);
  CHECK(loop.budget.open() == 1);
  while (!client->answer(asked).closed) {
    loop.round();
    loop.harness.run(*client);
  }
  CHECK(client->answer(asked).body == framed("a message that waits for its call's turn"));
  CHECK(client->answer(asked).status() == 0);
  CHECK(loop.methods.begun == 1);
}

TEST_CASE("a place is taken from a call that waits for its turn as from any other") {
  Rounds loop;
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < kPassedCallsMax / kPassedCallsPerCallerMax; ++i) {
    crowd.push_back(loop.harness.client(caller(std::to_string(i))));
    for (int each = 0; each < kPassedCallsPerCallerMax; ++each) crowd.back()->call("/test.Test/Wait", "", false);
    loop.harness.run(*crowd.back());
  }
  CHECK(loop.budget.open() == kPassedCallsMax);
  const auto late = loop.harness.client(caller("late"));
  const auto asked = late->call("/test.Test/Caller", framed(""));
  loop.harness.run(*late);
  CHECK(loop.budget.open() == kPassedCallsMax);
  loop.harness.run(*crowd.front());
  int ended = 0;
  for (int id = 1; id < 2 * kPassedCallsPerCallerMax; id += 2) ended += crowd.front()->answer(id).closed ? 1 : 0;
  CHECK(ended == 1);
  while (!late->answer(asked).closed) {
    loop.round();
    loop.harness.run(*late);
  }
  CHECK(late->answer(asked).status() == 0);
}

// 20,000 watches that took each other's places delayed others by 100 ms a call, since gRPC's threads had both cores.
TEST_CASE("one loop's calls are given to gRPC C++ and taken from it at a bounded pace, and the loop sleeps meanwhile") {
  Rounds loop;
  loop.now_ns = kSecondNs;
  const auto client = loop.harness.client(caller("client"));
  constexpr int kMore = 3, kCalls = kPassedTurnsBurst + kMore;
  std::vector<std::int32_t> ids;
  for (int i = 0; i < kCalls; ++i) ids.push_back(client->call("/test.Test/Wait", "", false));
  loop.harness.run(*client);
  while (!loop.may_sleep() || loop.methods.begun == 0) loop.round_at_once();
  wait_until([&] { return loop.methods.begun == kPassedTurnsBurst; });
  for (int more = 1; more <= kMore; ++more) {
    CHECK(loop.deadline_ns() > loop.now_ns);
    CHECK(loop.deadline_ns() <= loop.now_ns + kSecondNs / kPassedTurnsPerSecond);
    loop.now_ns = loop.deadline_ns();
    loop.round_at_once();
    wait_until([&] { return loop.methods.begun == kPassedTurnsBurst + more; });
    CHECK(loop.may_sleep());
  }
  CHECK(loop.deadline_ns() == Pollable::kNever);

  // Ends have the same pace.
  for (const std::int32_t id : ids) client->reset(id);
  loop.harness.run(*client);
  CHECK(loop.deadline_ns() > loop.now_ns);
  for (int i = 0; i < 100; ++i) loop.round_at_once();
  CHECK(loop.methods.cancelled == 0);
  while (loop.budget.open() > 0) loop.round();
}

// Regression: a loop that had no processor for half a second ended calls whose answers it had not heard of.
TEST_CASE("a leaving daemon ends no call that has ended while the loop had no processor") {
  Rounds loop;
  const auto client = loop.harness.client(caller("client"));
  const auto asked = client->call("/test.Test/Caller", framed(""));
  loop.harness.run(*client);
  while (client->answer(asked).body.empty()) {
    loop.round();
    loop.harness.run(*client);
  }
  while (!loop.has_tasks() && !client->answer(asked).closed) loop.round();  // the call's end is on its way
  loop.drain();
  loop.pass_ms(kStalledEndMs + 1);
  CHECK(!loop.may_sleep());
  while (!client->answer(asked).closed) {
    loop.round_at_once();
    loop.harness.run(*client);
  }
  CHECK(client->answer(asked).status() == 0);
}

// 1,024 watches of the server's health whose client left kept 34 MiB: the heap was given back before they were freed.
TEST_CASE("a call's memory counts as freed when gRPC C++ has ended it, not when its caller has") {
  Rounds loop;
  const auto client = loop.harness.client(caller("client"));
  constexpr int kBegun = 20, kWaiting = 3;
  std::vector<std::int32_t> ids;
  const auto begin = [&](int number) {
    for (int i = 0; i < number; ++i) ids.push_back(client->call("/test.Test/Wait", "", false));
    loop.harness.run(*client);
  };
  begin(kBegun);
  while (loop.methods.begun < kBegun) loop.round();
  begin(kWaiting);
  for (const std::int32_t id : ids) client->reset(id);
  loop.harness.run(*client);
  CHECK(loop.budget.open() == kBegun);
  CHECK(loop.freed_bytes == 0);
  while (loop.budget.open() > 0) loop.round();
  CHECK(loop.freed_bytes == kBegun * kPassedCallBytes);
}

}  // namespace
}  // namespace ingot::rpc
