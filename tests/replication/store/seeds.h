// Seeds for randomized tests: fixed ones by default; INGOT_SEED=n runs that one alone, to reproduce a failure.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace ingot {

inline std::vector<std::uint64_t> seeds(int count) {
  if (const char* one = std::getenv("INGOT_SEED")) return {std::strtoull(one, nullptr, 10)};
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), 1);
  return all;
}

}  // namespace ingot
