// The search for a rate against a real server: targets that any rate keeps, and that none can.
#include "services/ingot_load/target_search.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "services/ingot_load/target_report.h"
#include "tests/seeds.h"
#include "tests/services/ingot_load/test_store.h"

namespace ingot::load {
namespace {

using namespace std::chrono_literals;

// Whether a step of so short a time keeps a target is no matter of chance, if none can, or all do.
constexpr auto kShort = 250ms;

LoadOptions options_for(const TestStore& store, std::chrono::nanoseconds duration = kShort) {
  LoadOptions options;
  options.endpoint = store.endpoint();
  options.duration = duration;
  options.clients = 256;  // at the lowest rate there are free ones, however long the machine stops the server
  options.prefix = "test/";
  options.seed = options.run = testing::drawn_seed();
  options.timeout = 100s;
  return options;
}

struct Found {
  TargetResult result;
  std::size_t told = 0;  // steps
};

Found search(const LoadOptions& options, std::chrono::nanoseconds target) {
  static const std::atomic<bool> never{false};
  Found found;
  const auto result = search_target(
      options, target, 1000ms, [](const LoadProgress&) {}, [&](const TargetStep&) { ++found.told; }, never);
  REQUIRE(result.ok());
  found.result = *result;
  return found;
}

TEST_CASE("a target that every answer keeps is met by a rate that the clients can drive") {
  TestStore store;
  const LoadOptions options = options_for(store, 500ms);
  const Found found = search(options, 1h);
  REQUIRE(found.result.rate_per_s);
  CHECK(found.told == found.result.steps.size());
  CHECK(found.result.steps.front().rate_per_s == 0);
  CHECK(*found.result.rate_per_s <= 1.3 * found.result.steps.front().done_per_s);
  CHECK(found.result.p99_ns > 0);
  for (const TargetStep& step : found.result.steps) {
    if (step.rate_per_s == found.result.rate_per_s && step.held) CHECK(step.missed_share <= 0.01);
  }

  // The report for scripts has its keys, in order.
  const auto report = nlohmann::ordered_json::parse(json_target_report(options, 1h, found.result));
  auto key = report.begin();
  for (const char* name : {"target_p99_us", "held", "rate_per_s", "p99_us", "missed_per_s", "interrupted"}) {
    CHECK(key.key() == name);
    ++key;
  }
  CHECK(report["target_p99_us"] == 3.6e9);
  CHECK(report["steps"][0]["rate_per_s"] == 0);
}

TEST_CASE("a target that no answer keeps ends with the lowest rate, which missed it, too") {
  TestStore store;
  const TargetResult result = search(options_for(store), 1ns).result;
  CHECK_FALSE(result.rate_per_s);
  CHECK(result.floor_per_s == Approx(800));
  CHECK(result.missed_per_s == result.floor_per_s);
  for (const TargetStep& step : result.steps) CHECK(step.missed_share == 1);
}

TEST_CASE("refused requests miss the target, however fast") {
  TestStore store({.refuse_every = 2});
  LoadOptions options = options_for(store);
  options.read_share = 0;
  const TargetResult result = search(options, 1h).result;
  CHECK_FALSE(result.rate_per_s);
  for (const TargetStep& step : result.steps) CHECK(step.missed_share > 0.4);
}

TEST_CASE("a search that is stopped says so, and what it knows") {
  TestStore store;
  std::atomic<bool> stop{false};
  std::size_t steps = 0;
  const auto result = search_target(
      options_for(store), 1ns, 1000ms, [](const LoadProgress&) {},
      [&](const TargetStep&) {
        if (++steps == 3) stop = true;
      },
      stop);
  REQUIRE(result.ok());
  CHECK(result->interrupted);
  CHECK(result->steps.size() == 3);
  CHECK_FALSE(result->rate_per_s);
}

}  // namespace
}  // namespace ingot::load
