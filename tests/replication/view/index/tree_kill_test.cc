// The writer of an ordered tree is killed before each of its stores, and again in the adoption. The next incarnation
// has the keys of the last root, and all books are right: allocated = reached + retired.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/replication/view/index/tree_run.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

RunResult run_whole(const RunOptions& options) {
  RunResult result = run_killed_tree(options);
  INFO("seed " << options.seed);
  REQUIRE(result.failure == "");
  return result;
}

TEST_CASE("a writer of a tree is killed before each of its stores") {
  const std::uint64_t seed = testing::drawn_seed();
  const RunOptions whole{.seed = seed, .batches = 40};
  const std::uint64_t stores = run_whole(whole).stores.front();
  CHECK(stores > 1000);
  for (std::uint64_t kill = 0; kill < stores; ++kill) {
    RunOptions options = whole;
    options.kills = {kill};
    const auto result = run_killed_tree(options);
    INFO("seed " << seed << ", killed before store " << kill);
    REQUIRE(result.failure == "");
    REQUIRE(result.kills == 1);
  }
}

TEST_CASE("a writer of a tree is killed at a drawn store, and its successor before each of its first ones") {
  const std::uint64_t seed = testing::drawn_seed();
  const std::uint64_t stores = run_whole({.seed = seed, .batches = 30}).stores.front();
  for (std::uint64_t kill = seed % 37; kill < stores; kill += 37) {
    for (std::uint64_t again = 0; again < 40; ++again) {
      const auto result = run_killed_tree({.seed = seed, .batches = 30, .kills = {kill, again}});
      INFO("seed " << seed << ", killed before stores " << kill << " and " << again);
      REQUIRE(result.failure == "");
    }
  }
}

TEST_CASE("writers of a tree are killed again and again, in any order that is allowed, and readers stall") {
  RunResult sum;
  const std::vector<std::uint64_t> seeds = testing::seeds(800);
  for (const std::uint64_t seed : seeds) {
    const auto result = run_whole(drawn_tree_options(seed));
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
  CHECK(sum.counted > 3 * seeds.size());
  CHECK(sum.began_again > 2 * seeds.size());
}

}  // namespace
}  // namespace ingot::test
