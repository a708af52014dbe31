// The channel protocols on the incoherent machine: with every order in place they hold on every seed, whichever core is
// paused, stopped or killed before any access; and a missing order is always detected.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#include "tests/seeds.h"
#include "tests/transport/simulated_run.h"

using namespace ingot;
using namespace ingot::test;

namespace {

using Runner = RunResult (*)(std::uint64_t, const Mutation&, std::optional<PlannedFault>);

// Sums over many seeds.
struct Sums {
  double runs = 0, faults = 0, delivered = 0, parked = 0;
};

// Runs `seeds` seeds; fails on the first that violates a property.
Sums require_all_hold(Runner run, std::uint64_t seeds) {
  Sums sum;
  for (const std::uint64_t seed : ingot::testing::seeds(seeds)) {
    const RunResult result = run(seed, {}, {});
    INFO("seed " << seed);
    REQUIRE(result.failure == "");
    ++sum.runs;
    sum.faults += result.faults;
    sum.delivered += static_cast<double>(result.delivered);
    sum.parked += static_cast<double>(result.parked);
  }
  return sum;
}

// Stops, kills or pauses one core before each of its first accesses in turn.
void require_any_fault_harmless(Runner run) {
  for (const Fault fault : {Fault::kKill, Fault::kStop, Fault::kPause}) {
    for (int access = 1; access <= 300; ++access) {
      const auto seed = static_cast<std::uint64_t>(access % 3 + 1);
      const RunResult result = run(seed, {}, PlannedFault{fault, access});
      INFO("seed " << seed << ", fault " << static_cast<int>(fault) << " before access " << access);
      REQUIRE(result.failure == "");
    }
  }
}

// The first seed that detects the mutation, or 0.
std::uint64_t seed_that_catches(Runner run, const Mutation& mutation) {
  constexpr std::uint64_t kSeedsMax = 10'000;
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    if (!run(seed, mutation, {}).failure.empty()) return seed;
  }
  return 0;
}

void require_every_order_needed(Runner run, Site first, Site last) {
  for (int site = static_cast<int>(first); site <= static_cast<int>(last); ++site) {
    INFO("site " << site << " of transport/sites.h made relaxed");
    REQUIRE(order_of(static_cast<Site>(site)) != Order::kRelaxed);
    CHECK(seed_that_catches(run, {static_cast<Site>(site), false}) != 0);
  }
}

}  // namespace

TEST_CASE("NVP holds on incoherent memory") {
  const Sums sum = require_all_hold(run_nvp, 1500);
  if (ingot::testing::one_seed_only()) return;
  CHECK(sum.faults > sum.runs / 3);
  CHECK(sum.delivered > 6 * sum.runs);
}

TEST_CASE("SRBP holds on incoherent memory") {
  const Sums sum = require_all_hold(run_srbp, 3000);
  if (ingot::testing::one_seed_only()) return;
  CHECK(sum.faults > sum.runs / 3);
  CHECK(sum.delivered > 6 * sum.runs);
  CHECK(sum.parked > sum.runs / 20);  // otherwise the test covers too little
}

TEST_CASE("a core that fails before any access of NVP affects no other") { require_any_fault_harmless(run_nvp); }
TEST_CASE("a core that fails before any access of SRBP affects no other") { require_any_fault_harmless(run_srbp); }

TEST_CASE("NVP needs every order it names") {
  require_every_order_needed(run_nvp, Site::kNvpNotify, Site::kNvpTakeCredit);
}

TEST_CASE("SRBP needs every order it names") {
  require_every_order_needed(run_srbp, Site::kSrbpDrawAcquire, Site::kSrbpCheckBlocked);
}

TEST_CASE("every order belongs to one of the protocols") {
  CHECK(static_cast<int>(Site::kNvpNotify) == 1);
  CHECK(static_cast<int>(Site::kSrbpDrawAcquire) == static_cast<int>(Site::kNvpTakeCredit) + 1);
  CHECK(static_cast<int>(Site::kBarrierArrive) == static_cast<int>(Site::kSrbpCheckBlocked) + 1);
  CHECK(static_cast<int>(Site::kCount) == static_cast<int>(Site::kBarrierLeave) + 1);
}

TEST_CASE("without the transport's fence a sleeping receiver is not woken") {
  CHECK(seed_that_catches(run_nvp, {Site::kCount, true}) != 0);
  CHECK(seed_that_catches(run_srbp, {Site::kCount, true}) != 0);
}
