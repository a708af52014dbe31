#include "tests/seeds.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

namespace ingot::testing {
namespace {

// Sanitizers make runs many times slower, and what they find shows in any run.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kShareOfSeeds = 5;
#else
constexpr std::uint64_t kShareOfSeeds = 1;
#endif

// 0 if the variable is not set. Seeds are from 1 on.
std::uint64_t from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
}

std::uint64_t draw() {
  const std::uint64_t seed = 1 + std::uint64_t{std::random_device{}()};
  const char* target = std::getenv("TEST_TARGET");  // Bazel sets it
  std::fprintf(stderr, "seed %llu; again: bazel test %s --test_env=INGOT_SEED=%llu\n",
               static_cast<unsigned long long>(seed), target == nullptr ? "THIS_TEST" : target,
               static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace

std::uint64_t drawn_seed() {
  static const std::uint64_t only = from_environment("INGOT_SEED");
  static const std::uint64_t seed = only > 0 ? only : draw();
  return seed;
}

SeedRange seeds_to_run(std::uint64_t own_number) {
  const std::uint64_t first = drawn_seed();
  if (one_seed_only()) return {first, first, true};
  const std::uint64_t simulations = from_environment("INGOT_SIMULATIONS");
  const std::uint64_t number = std::max<std::uint64_t>(1, own_number / kShareOfSeeds);
  return {first, first + (simulations > 0 ? simulations : number) - 1, false};
}

bool one_seed_only() { return from_environment("INGOT_SEED") > 0; }

std::vector<std::uint64_t> seeds(std::uint64_t own_number) {
  const SeedRange range = seeds_to_run(own_number);
  std::vector<std::uint64_t> all(range.count());
  std::iota(all.begin(), all.end(), range.first);
  return all;
}

}  // namespace ingot::testing
