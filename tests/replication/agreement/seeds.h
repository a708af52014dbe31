// The seeds of a test: 1 to the test's own number; INGOT_SIMULATIONS=n: 1 to n; INGOT_SEED=n: that one only.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace ingot::testing {

struct SeedRange {
  std::uint64_t first;
  std::uint64_t last;
  bool one_only;  // with INGOT_SEED: one run is analysed, and sums over all are meaningless
};

inline SeedRange seeds_to_run(std::uint64_t own_number) {
  const auto from_environment = [](const char* name, std::uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value ? std::strtoull(value, nullptr, 10) : otherwise;
  };
  const std::uint64_t only = from_environment("INGOT_SEED", 0);
  if (only > 0) return {only, only, true};
  return {1, from_environment("INGOT_SIMULATIONS", own_number), false};
}

}  // namespace ingot::testing
