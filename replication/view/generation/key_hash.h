// The hash of a generation's keys. Two multiplications for keys of up to 16 bytes, for which each get waits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/stable_hash.h"

namespace ingot::inline replication_view_generation {

// The seed is random and secret: both factors of each multiplication have it, so no client can choose keys that
// collide. Both halves are well mixed.
inline std::uint64_t key_hash(std::string_view key, std::uint64_t seed) {
  const std::uint64_t turned = std::rotl(seed, 32) ^ 0xa0761d6478bd642f;
  const std::uint64_t ended = seed ^ key.size();
  std::uint64_t hash = seed;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const auto load = [&](std::size_t bytes) {
    std::memcpy(&first, key.data(), bytes);
    std::memcpy(&last, key.data() + key.size() - bytes, bytes);
  };
  for (; key.size() > 2 * sizeof first; key.remove_prefix(2 * sizeof first)) {
    std::memcpy(&first, key.data(), sizeof first);
    std::memcpy(&last, key.data() + sizeof first, sizeof last);
    hash = mix(first ^ hash, last ^ turned);
  }
  first = last = 0;
  if (key.size() >= sizeof first) {  // the two overlap, unless there are 16 bytes
    load(sizeof first);
  } else if (key.size() >= sizeof(std::uint32_t)) {
    load(sizeof(std::uint32_t));
  } else {
    for (const char byte : key) first = first << 8 | static_cast<unsigned char>(byte);
  }
  return mix(mix(first ^ hash, last ^ turned), ended);
}

}  // namespace ingot::replication_view_generation
