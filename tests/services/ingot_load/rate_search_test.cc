// The search for a rate against servers that are a number, with and without noise.
#include "services/ingot_load/rate_search.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>

#include "core/prng.h"
#include "services/ingot_load/limits.h"
#include "tests/seeds.h"

namespace ingot::load {
namespace {

// Searches below 10,000 and above 10 a second; up to `sustained` a rate holds.
RateSearch search(double sustained, double wrong_miss = 0, double wrong_hold = 0, std::uint64_t seed = 1) {
  RateSearch search(10'000, 10);
  Prng prng(seed);
  while (const std::optional<double> rate = search.next()) {
    const bool holds = *rate <= sustained;
    search.measured(holds ? !prng.chance(wrong_miss) : prng.chance(wrong_hold));
  }
  return search;
}

TEST_CASE("the rate that is found holds, and the next one, a step above, does not") {
  for (double sustained = 10; sustained < 10'000; sustained *= 1.013) {
    const RateSearch done = search(sustained);
    REQUIRE(done.highest_held());
    REQUIRE(done.lowest_missed());
    CHECK(*done.highest_held() <= sustained);
    CHECK(*done.lowest_missed() > sustained);
    CHECK(*done.lowest_missed() / *done.highest_held() <= kRateStep);
    CHECK_FALSE(done.ended_by_bound());
  }
}

TEST_CASE("a ceiling that holds is the answer, and nothing has missed") {
  const RateSearch done = search(20'000);
  CHECK(done.highest_held() == 10'000);
  CHECK_FALSE(done.lowest_missed());
  CHECK(done.steps() == 2);
}

TEST_CASE("if the lowest rate misses, there is no answer") {
  const RateSearch done = search(9.9);
  CHECK_FALSE(done.highest_held());
  CHECK(done.lowest_missed() == 10);
  CHECK_FALSE(done.ended_by_bound());
}

TEST_CASE("a ceiling below the floor is tried at the floor") {
  RateSearch low(3, 10);
  CHECK(low.next() == 10);
}

TEST_CASE("one wrong measurement of a rate changes nothing, whichever it is") {
  const RateSearch right = search(3210);
  for (int wrong = 0; wrong < right.steps(); ++wrong) {
    RateSearch disturbed(10'000, 10);
    while (const std::optional<double> rate = disturbed.next()) {
      disturbed.measured((*rate <= 3210) != (disturbed.steps() == wrong));
    }
    CHECK(disturbed.highest_held() == right.highest_held());
    CHECK(disturbed.lowest_missed() == right.lowest_missed());
    CHECK(disturbed.steps() == right.steps() + 1);
  }
}

TEST_CASE("a disturbance of many measurements ends, and the search goes on above what it made miss") {
  const RateSearch right = search(3210);
  for (int from = 0; from < right.steps() - 2; ++from) {
    RateSearch disturbed(10'000, 10);
    while (const std::optional<double> rate = disturbed.next()) {
      const bool disturbs = disturbed.steps() >= from && disturbed.steps() < right.steps() - 2;
      disturbed.measured(*rate <= 3210 && !disturbs);
    }
    REQUIRE(disturbed.highest_held());
    CHECK(*disturbed.highest_held() <= 3210);
    CHECK(*disturbed.highest_held() * kRateStep >= 3210);
    CHECK_FALSE(disturbed.ended_by_bound());
  }
}

TEST_CASE("with noise the search ends, within its bound, with rates that it measured as it says") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng draw(seed);
  for (int i = 0; i < 500; ++i) {
    const double sustained = 5 + static_cast<double>(draw.below(12'000));
    const RateSearch done = search(sustained, 0.5, 0.5, draw.below(1u << 30));
    CHECK(done.steps() <= kRateStepsMax);
    CHECK_FALSE(done.next());
    if (done.highest_held() && done.lowest_missed()) CHECK(*done.highest_held() < *done.lowest_missed());
  }
}

TEST_CASE("measurements that are rarely wrong find the rate nearly always") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng draw(seed);
  int near = 0;
  for (int i = 0; i < 500; ++i) {
    const RateSearch done = search(1000, 0.05, 0.05, draw.below(1u << 30));
    if (!done.highest_held()) continue;
    near += *done.highest_held() > 1000 / kRateStep && *done.highest_held() < 1000 * kRateStep;
  }
  CHECK(near > 425);  // each of some eight rates is judged wrongly with a probability below 0.8 %: some 470
}

}  // namespace
}  // namespace ingot::load
