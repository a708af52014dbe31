// The heap's writer is killed before each of its stores, again in the adoption, and again in the adoption of that. The
// next incarnation has the state of the last root, and all books are right: allocated = reached + retired.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/replication/view/heap/heap_run.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

RunResult run_whole(const RunOptions& options) {
  RunResult result = run_heap(options);
  INFO("seed " << options.seed);
  REQUIRE(result.failure == "");
  return result;
}

TEST_CASE("no store escapes the model") {
  const auto result = run_whole({.seed = testing::drawn_seed(), .sees_all = true});
  CHECK(result.kills == 0);
}

TEST_CASE("a writer is killed before each of its stores") {
  const std::uint64_t seed = testing::drawn_seed();
  const RunOptions whole{.seed = seed, .batches = 45};
  const std::uint64_t stores = run_whole(whole).stores.front();
  CHECK(stores > 1000);
  for (std::uint64_t kill = 0; kill < stores; ++kill) {
    RunOptions options = whole;
    options.kills = {kill};
    const auto result = run_heap(options);
    INFO("seed " << seed << ", killed before store " << kill);
    REQUIRE(result.failure == "");
    REQUIRE(result.kills == 1);
  }
}

TEST_CASE("a writer is killed before each of its stores, and its successor before each of its first ones") {
  const std::uint64_t seed = testing::drawn_seed();
  std::uint64_t in_adoption = 0;
  for (std::uint64_t kill = 0; kill < 300; ++kill) {
    for (std::uint64_t again = 0; again < 40; ++again) {
      const auto result = run_heap({.seed = seed, .batches = 20, .kills = {kill, again}});
      INFO("seed " << seed << ", killed before stores " << kill << " and " << again);
      REQUIRE(result.failure == "");
      in_adoption += result.adoptions < result.kills ? 1 : 0;
    }
  }
  CHECK(in_adoption > 300);
}

TEST_CASE("writers are killed again and again, their stores come in any order that is allowed, and readers stall") {
  RunResult sum;
  const std::vector<std::uint64_t> seeds = testing::seeds(1200);
  for (const std::uint64_t seed : seeds) {
    const auto result = run_whole(drawn_options(seed));
    sum.kills += result.kills;
    sum.adoptions += result.adoptions;
    sum.reclaimed += result.reclaimed;
    sum.counted += result.counted;
    sum.began_again += result.began_again;
  }
  if (testing::one_seed_only()) return;
  CHECK(sum.kills > sum.adoptions);  // some were killed in their adoption
  CHECK(sum.adoptions > 2 * seeds.size());
  CHECK(sum.reclaimed > seeds.size());
  CHECK(sum.counted > 10 * seeds.size());
  CHECK(sum.began_again > 5 * seeds.size());
}

}  // namespace
}  // namespace ingot::test
