// The histogram against a sorted list of all values.
#include "services/ingot_load/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "core/prng.h"
#include "tests/seeds.h"

namespace ingot::load {
namespace {

std::uint64_t quantile_by_sorting(std::vector<std::uint64_t> values, double q) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

// Durations like a server's: most within a decade, some far out.
std::uint64_t random_duration(Prng& prng) {
  const auto bits = 5 + prng.below(prng.chance(0.05) ? 34 : 20);
  return prng.below(std::uint64_t{1} << bits);
}

TEST_CASE("a quantile is the true one or at most 1/128 above it") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  for (int round = 0; round < 50; ++round) {
    LatencyHistogram histogram;
    std::vector<std::uint64_t> values(1 + prng.below(3000));
    for (auto& value : values) {
      value = random_duration(prng);
      histogram.record(value);
    }
    REQUIRE(histogram.count() == values.size());
    REQUIRE(histogram.max_ns() == *std::max_element(values.begin(), values.end()));
    for (const double q : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      INFO("q " << q);
      const std::uint64_t truth = quantile_by_sorting(values, q);
      REQUIRE(histogram.quantile_ns(q) >= truth);
      REQUIRE(histogram.quantile_ns(q) <= truth + truth / 128);
    }
  }
}

TEST_CASE("values at the edges of buckets keep their order") {
  // One value at a time: the quantile of a single value is bounded by the maximum, so a larger one is recorded, too.
  std::uint64_t last = 0;
  for (int bit = 0; bit < LatencyHistogram::kValueBits; ++bit) {
    for (const int offset : {-1, 0, 1}) {
      const std::uint64_t value = (std::uint64_t{1} << bit) + static_cast<std::uint64_t>(offset);
      if (value > LatencyHistogram::kNanosecondsMax) continue;
      LatencyHistogram histogram;
      histogram.record(value);
      histogram.record(LatencyHistogram::kNanosecondsMax);
      INFO("value " << value);
      REQUIRE(histogram.quantile_ns(0.5) >= value);
      REQUIRE(histogram.quantile_ns(0.5) <= value + value / 128);
      REQUIRE((value <= last || histogram.quantile_ns(0.5) >= last));
      last = histogram.quantile_ns(0.5);
    }
  }
}

TEST_CASE("what is longer than the longest counts as the longest, and its maximum is exact") {
  LatencyHistogram histogram;
  histogram.record(LatencyHistogram::kNanosecondsMax * 5);
  CHECK(histogram.count() == 1);
  CHECK(histogram.max_ns() == LatencyHistogram::kNanosecondsMax * 5);
  CHECK(histogram.quantile_ns(0.5) == LatencyHistogram::kNanosecondsMax);
}

TEST_CASE("an empty histogram answers 0") {
  CHECK(LatencyHistogram().quantile_ns(0.5) == 0);
  CHECK(LatencyHistogram().max_ns() == 0);
}

TEST_CASE("merging two histograms is recording everything in one, and since() takes it apart again") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  LatencyHistogram first, second, both;
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t value = random_duration(prng);
    (i % 3 == 0 ? first : second).record(value);
    both.record(value);
  }
  LatencyHistogram merged = first;
  merged.merge(second);
  const LatencyHistogram rest = merged.since(first);
  CHECK(merged.count() == both.count());
  CHECK(rest.count() == second.count());
  for (const double q : {0.01, 0.5, 0.9, 0.999, 1.0}) {
    CHECK(merged.quantile_ns(q) == both.quantile_ns(q));
    if (q < 1.0) CHECK(rest.quantile_ns(q) == second.quantile_ns(q));
  }
}

TEST_CASE("what is at most some value is counted, up to the value's bucket") {
  LatencyHistogram histogram;
  CHECK(histogram.count_up_to(LatencyHistogram::kNanosecondsMax) == 0);
  for (std::uint64_t ns = 1; ns <= 100'000; ++ns) histogram.record(ns);
  histogram.record(LatencyHistogram::kNanosecondsMax + 1);
  for (const std::uint64_t ns : {1, 100, 255, 1'000, 5'000, 77'777}) {
    const std::uint64_t count = histogram.count_up_to(ns);
    CHECK(count >= ns);
    CHECK(static_cast<double>(count) <= static_cast<double>(ns) * (1 + 1.0 / 128) + 1);
  }
  CHECK(histogram.count_up_to(200'000) == 100'000);
  CHECK(histogram.count_up_to(~std::uint64_t{0}) == 100'001);
}

}  // namespace
}  // namespace ingot::load
