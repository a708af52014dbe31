// Keys have the frequencies of their law, and a key's name gives its number back.
#include "services/ingot_load/key_chooser.h"

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "services/ingot_load/key_names.h"
#include "tests/seeds.h"

namespace ingot::load {
namespace {

std::vector<double> shares(Distribution distribution, std::uint32_t keys, int draws, std::uint64_t seed) {
  Prng prng(seed);
  KeyChooser chooser(distribution, keys);
  std::vector<double> shares(keys);
  for (int i = 0; i < draws; ++i) shares.at(chooser.next(prng)) += 1.0 / draws;
  return shares;
}

// Six standard deviations of a share p measured with that many draws: practically never exceeded by chance.
double tolerance(double p, int draws) { return 6 * std::sqrt(p * (1 - p) / draws); }

TEST_CASE("uniform: every key equally often") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  constexpr int kDraws = 200000;
  for (const double share : shares(Distribution::kUniform, 20, kDraws, seed)) {
    CHECK(share == Approx(1.0 / 20).margin(tolerance(1.0 / 20, kDraws)));
  }
}

TEST_CASE("zipf: key i as often as 1 / (i + 1)^1.01 says") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  constexpr int kDraws = 200000;
  constexpr int kKeys = 100;
  double sum = 0;
  for (int i = 0; i < kKeys; ++i) sum += std::pow(i + 1, -kZipfExponent);
  const std::vector<double> measured = shares(Distribution::kZipf, kKeys, kDraws, seed);
  for (int i = 0; i < kKeys; ++i) {
    const double expected = std::pow(i + 1, -kZipfExponent) / sum;
    INFO("key " << i);
    CHECK(measured[static_cast<std::size_t>(i)] == Approx(expected).margin(tolerance(expected, kDraws)));
  }
}

TEST_CASE("in turn: every key once, then again") {
  Prng prng(1);
  KeyChooser chooser(Distribution::kInTurn, 3);
  for (const std::uint32_t expected : {0u, 1u, 2u, 0u, 1u, 2u, 0u}) CHECK(chooser.next(prng) == expected);
}

TEST_CASE("one key is always key 0") {
  Prng prng(1);
  for (const auto distribution : {Distribution::kUniform, Distribution::kZipf, Distribution::kInTurn}) {
    KeyChooser chooser(distribution, 1);
    for (int i = 0; i < 100; ++i) REQUIRE(chooser.next(prng) == 0);
  }
}

TEST_CASE("a key's name gives its number back, and names have the order of numbers") {
  std::string last;
  for (const std::uint32_t index : {0u, 1u, 9u, 10u, 999u, 1000u, static_cast<std::uint32_t>(kLoadKeysMax)}) {
    const std::string name = key_name("p/", index);
    CHECK(key_index("p/", name) == index);
    CHECK(last < name);
    last = name;
  }
  CHECK_FALSE(key_index("p/", "p/000001"));
  CHECK_FALSE(key_index("p/", "p/00000x1"));
  CHECK_FALSE(key_index("p/", "q/0000001"));
}

}  // namespace
}  // namespace ingot::load
