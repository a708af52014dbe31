// Chooses the key of the next request: an index below the number of keys, uniform, by Zipf's law, or round robin.
#pragma once

#include <cstdint>
#include <limits>

#include "absl/random/zipf_distribution.h"
#include "core/check.h"
#include "core/prng.h"

namespace ingot::load {

enum class Distribution : std::uint8_t { kUniform, kZipf, kInTurn };

// Key i is chosen with a probability proportional to 1 / (i + 1)^1.01: the library's sampler needs an exponent above 1.
inline constexpr double kZipfExponent = 1.01;

// Deterministic for a seed. Not thread-safe.
class KeyChooser {
 public:
  KeyChooser(Distribution distribution, std::uint32_t keys) : distribution_(distribution), keys_(keys) {
    INGOT_CHECK(keys > 0);
    zipf_ = absl::zipf_distribution<std::uint32_t>(keys - 1, kZipfExponent, 1.0);
  }

  std::uint32_t next(Prng& prng) {
    switch (distribution_) {
      case Distribution::kUniform:
        return static_cast<std::uint32_t>(prng.below(keys_));
      case Distribution::kZipf:
        return zipf_(prng);
      case Distribution::kInTurn:
        break;
    }
    const std::uint32_t key = turn_;
    turn_ = (turn_ + 1) % keys_;
    return key;
  }

 private:
  Distribution distribution_;
  std::uint32_t keys_;
  std::uint32_t turn_ = 0;
  absl::zipf_distribution<std::uint32_t> zipf_;
};

}  // namespace ingot::load
