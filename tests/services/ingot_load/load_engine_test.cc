// The engine and its check against servers that work, lose or falsify writes, stall and end.
#include "services/ingot_load/load_engine.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "services/ingot_load/final_check.h"
#include "services/ingot_load/report.h"
#include "tests/seeds.h"
#include "tests/services/ingot_load/test_store.h"

namespace ingot::load {
namespace {

using namespace std::chrono_literals;

LoadOptions options_for(const TestStore& store) {
  LoadOptions options;
  options.endpoint = store.endpoint();
  options.count = 2000;
  options.keys = 50;
  options.prefix = "test/";
  options.seed = options.run = testing::drawn_seed();
  options.keep_ledger = true;
  options.timeout = 100s;  // the machine may stop any thread for seconds
  return options;
}

LoadResult load(const LoadOptions& options) {
  static const std::atomic<bool> never{false};
  REQUIRE(validate(options).ok());
  auto result = run_load(options, 1000ms, [](const LoadProgress&) {}, never);
  REQUIRE(result.ok());
  return *std::move(result);
}

CheckReport check(const LoadOptions& options, const LoadResult& result) {
  const auto report = check_store(options, result.totals, result.ledger, 100s);
  REQUIRE(report.ok());
  return *report;
}

CheckReport load_and_check(Faults faults) {
  TestStore store(faults);
  const LoadOptions options = options_for(store);
  INFO("seed " << options.seed);
  const LoadResult result = load(options);
  return check(options, result);
}

TEST_CASE("a count is kept to the request, over any number of threads and connections") {
  for (const int threads : {1, 2, 3}) {
    TestStore store;
    LoadOptions options = options_for(store);
    options.threads = threads;
    options.connections = 4;
    options.clients = 13;
    const LoadResult result = load(options);
    CHECK(result.totals.operations() == 2000);
    CHECK(result.totals.acknowledged == 2000);
    CHECK(result.totals.reads.count() + result.totals.writes.count() == 2000);
    CHECK(result.ledger.acknowledged_count() == result.totals.writes.count());
    CHECK(check(options, result).held());
    CHECK(store.keys() <= 50);
  }
}

TEST_CASE("the mix of reads and writes is what was asked for") {
  TestStore store;
  LoadOptions options = options_for(store);
  INFO("seed " << options.seed);
  options.read_share = 0.9;
  const LoadResult result = load(options);
  CHECK(result.totals.reads.count() == Approx(1800).margin(80));  // six standard deviations
  options.read_share = 0;
  CHECK(load(options).totals.reads.count() == 0);
}

TEST_CASE("a check catches a server that loses, cuts or repeats writes, or shows old values") {
  CHECK(load_and_check({}).held());
  // Every second write: only a key whose last write is lost shows it, and each of fifty could escape.
  const CheckReport lost = load_and_check({.lose_every = 2});
  CHECK(lost.lost > 0);
  CHECK_FALSE(lost.held());
  CHECK(lost.examples.size() <= CheckReport::kExamplesMax);
  CHECK_FALSE(lost.examples.empty());
  CHECK(load_and_check({.corrupt_every = 2}).wrong > 0);
  CHECK(load_and_check({.repeat_every = 2}).wrong > 0);
  CHECK(load_and_check({.stale_reads = true}).bad_reads > 0);
}

TEST_CASE("a check accepts refused writes, and writes of unknown outcome, done or not") {
  CHECK(load_and_check({.refuse_every = 7}).held());
  CHECK(load_and_check({.hide_every = 29}).held());
  CHECK(load_and_check({.hide_undone_every = 29}).held());
}

TEST_CASE("a status code decides whether a request was acknowledged, failed or has an unknown outcome") {
  TestStore store({.refuse_every = 10});
  LoadOptions options = options_for(store);
  options.read_share = 0;
  const LoadResult refused = load(options);
  CHECK(refused.totals.failed == 200);
  CHECK(refused.totals.by_code[grpc::StatusCode::RESOURCE_EXHAUSTED] == 200);
  CHECK(refused.totals.unknown == 0);
  store.set_faults({.hide_every = 50});
  const LoadResult hidden = load(options);
  CHECK(hidden.totals.unknown == 40);
  CHECK(hidden.totals.acknowledged == 1960);
}

TEST_CASE("no acknowledged write is a failure") {
  const CheckReport report = load_and_check({.refuse_every = 1});
  CHECK(report.wrote_nothing);
  CHECK_FALSE(report.held());
}

TEST_CASE("a key that vanishes after the run is lost") {
  TestStore store;
  const LoadOptions options = options_for(store);
  const LoadResult result = load(options);
  store.lose_all();
  const CheckReport report = check(options, result);
  CHECK(report.lost == report.keys);
  CHECK(report.lost > 0);
}

TEST_CASE("two runs under one prefix do not confuse each other") {
  TestStore store;
  const LoadOptions first = options_for(store);
  LoadOptions second = first;
  second.run = first.run + 1;
  const LoadResult one = load(first);
  const LoadResult two = load(second);
  CHECK(check(first, one).held());
  CHECK(check(second, two).held());
}

TEST_CASE("a server that dies and comes back costs each client at most a few unknown outcomes, and the run goes on") {
  constexpr auto kAway = 700ms;
  TestStore store;
  LoadOptions options = options_for(store);
  options.count = 0;
  options.duration = std::chrono::hours(1);
  // The server runs until a write is acknowledged, is down until the clients have noticed and a while longer, and runs
  // again until more writes are acknowledged.
  enum class Phase { kUp, kDown, kAway, kBack } phase = Phase::kUp;
  std::uint64_t acknowledged = 0;
  std::atomic<bool> stop{false};
  const auto result = run_load(
      options, 20ms,
      [&](const LoadProgress& progress) {
        const LoadTotals& totals = progress.totals;
        if (phase == Phase::kUp && totals.acknowledged > 100) {
          store.stop();
          phase = Phase::kDown;
        } else if (phase == Phase::kDown && totals.unknown + totals.failed > 0) {
          phase = Phase::kAway;
        } else if (phase == Phase::kAway) {  // one check later: acknowledged requests have been counted
          acknowledged = totals.acknowledged;
          std::this_thread::sleep_for(kAway);
          store.start_again();
          phase = Phase::kBack;
        } else if (phase == Phase::kBack && totals.acknowledged > acknowledged + 100) {
          stop = true;
        }
      },
      stop);
  REQUIRE(result.ok());
  CHECK(phase == Phase::kBack);
  CHECK(result->totals.unknown <= 3 * static_cast<unsigned>(options.clients));
  CHECK(result->gap_ms_max >= 650);
  CHECK(check(options, *result).held());
}

TEST_CASE("in an open loop a stall shows in every request that was due meanwhile; a closed loop hides it") {
  LoadOptions options;
  const auto slow_share = [&](double rate_per_s) {
    TestStore store({.stall_at = 200, .stall = 600ms});
    options = options_for(store);
    options.count = 600;
    options.rate_per_s = rate_per_s;
    options.clients = 4;
    const LatencyHistogram all = load(options).totals.latency();
    CHECK(all.max_ns() >= 600'000'000);
    double share = 0;
    while (all.quantile_ns(1 - share - 0.001) >= 100'000'000) share += 0.001;
    return share;
  };
  const double open_loop = slow_share(300);
  CHECK(open_loop > 0.2);  // of the requests due in 500 ms, 150 of 600, waited 100 ms or longer
  CHECK(slow_share(0) < open_loop / 2);
}

TEST_CASE("an open loop keeps its rate, and counts the requests that it could not start") {
  TestStore store;
  LoadOptions options = options_for(store);
  options.count = 0;
  options.duration = 1s;
  options.rate_per_s = 200;
  const LoadResult result = load(options);
  CHECK(result.totals.operations() + result.not_started == 200);

  TestStore stalling({.stall_at = 1, .stall = 1500ms});
  options.endpoint = stalling.endpoint();
  options.clients = 1;
  const LoadResult stalled = load(options);
  CHECK(stalled.not_started > 150);
  CHECK(stalled.totals.operations() + stalled.not_started == 200);
}

TEST_CASE("a run can be stopped early") {
  TestStore store;
  LoadOptions options = options_for(store);
  options.count = 0;
  options.duration = std::chrono::hours(1);
  std::atomic<bool> stop{false};
  int calls = 0;
  const auto result = run_load(
      options, 20ms,
      [&](const LoadProgress& progress) {
        if (++calls >= 10 && progress.totals.acknowledged > 0) stop = true;
      },
      stop);
  REQUIRE(result.ok());
  CHECK(calls >= 10);
  CHECK(result->totals.acknowledged > 0);
  CHECK(check(options, *result).held());
}

TEST_CASE("a missing server gives one sentence") {
  LoadOptions options;
  options.endpoint = "127.0.0.1:1";
  options.timeout = 100ms;
  options.count = 1;
  const std::atomic<bool> never{false};
  const auto result = run_load(options, 1000ms, [](const LoadProgress&) {}, never);
  CHECK(result.status().code() == absl::StatusCode::kUnavailable);
  CHECK(result.status().message() ==
        "nothing answers on 127.0.0.1:1 within 100ms; start ingotd, or name its address with --endpoint");
}

TEST_CASE("the report for scripts has its keys, in order") {
  TestStore store({.refuse_every = 10});
  const LoadOptions options = options_for(store);
  const LoadResult result = load(options);
  const auto report = nlohmann::ordered_json::parse(json_report(options, result, check(options, result)));
  const char* const promised[] = {"operations", "acknowledged", "failed", "unknown", "lost",    "throughput_per_s",
                                  "gap_ms_max", "p50_us",       "p90_us", "p99_us",  "p999_us", "max_us"};
  auto key = report.begin();
  for (const char* name : promised) {
    CHECK(key.key() == name);
    CHECK(key.value().is_number());
    ++key;
  }
  CHECK(report["operations"] == 2000);
  CHECK(report["acknowledged"].get<int>() + report["failed"].get<int>() == 2000);
  CHECK(report["p50_us"] <= report["p999_us"]);
  CHECK(report["check"] == "held");
}

}  // namespace
}  // namespace ingot::load
