// The only source of randomness in Ingot: xoshiro256** seeded by splitmix64 (Blackman and Vigna, public domain
// algorithms). Deterministic for a seed on every machine. Not for cryptography. One instance per user; not thread-safe.
#pragma once

#include <bit>
#include <cstdint>

#include "core/check.h"

namespace ingot::inline core {

class Prng {
 public:
  using result_type = std::uint64_t;

  explicit Prng(std::uint64_t seed) {
    for (auto& word : state_) word = split_mix(seed);
  }

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

  std::uint64_t operator()() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound). REQUIRES: bound > 0. The bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    INGOT_CHECK(bound > 0);
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  // True with probability p.
  bool chance(double p) { return unit() < p; }

 private:
  static std::uint64_t split_mix(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_[4];
};

}  // namespace ingot::core
