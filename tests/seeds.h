// Seeds of randomized tests. Each run draws new ones and prints the command that repeats it; with INGOT_SEED=n in the
// environment a test runs with n only. Bazel runs tests that depend on this each time, since no result is for their
// next seeds (defs.bzl).
#pragma once

#include <cstdint>
#include <vector>

namespace ingot::testing {

// The seed of this process: INGOT_SEED, or drawn at the first call, which prints it. Thread-safe.
std::uint64_t drawn_seed();

struct SeedRange {
  std::uint64_t first;
  std::uint64_t last;
  bool one_only;  // with INGOT_SEED: one run is analysed, and sums over all are meaningless

  std::uint64_t count() const { return last - first + 1; }
};

// `own_number` seeds from drawn_seed() on, a fifth of them under a sanitizer; or as many as INGOT_SIMULATIONS says;
// with INGOT_SEED that one only.
SeedRange seeds_to_run(std::uint64_t own_number);

// Whether INGOT_SEED is set.
bool one_seed_only();

// The seeds of seeds_to_run().
std::vector<std::uint64_t> seeds(std::uint64_t own_number);

}  // namespace ingot::testing
