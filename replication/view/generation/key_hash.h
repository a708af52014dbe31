// The hash of a generation's keys. Two multiplications for keys of up to 16 bytes, for which each get waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/stable_hash.h"

namespace ingot::inline replication_view_generation {

// The seed is random, so that no client can choose keys that meet. Both halves are well mixed.
inline std::uint64_t key_hash(std::string_view key, std::uint64_t seed) {
  constexpr std::size_t kBlockBytes = 2 * sizeof(std::uint64_t);
  std::uint64_t hash = seed ^ key.size();
  for (; key.size() > kBlockBytes; key.remove_prefix(kBlockBytes)) hash = fold_words(hash, key.data());
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (key.size() >= sizeof first) {  // they overlap, unless the key has a whole block
    std::memcpy(&first, key.data(), sizeof first);
    std::memcpy(&last, key.data() + key.size() - sizeof last, sizeof last);
  } else if (key.size() >= sizeof(std::uint32_t)) {
    std::memcpy(&first, key.data(), sizeof(std::uint32_t));
    std::memcpy(&last, key.data() + key.size() - sizeof(std::uint32_t), sizeof(std::uint32_t));
  } else {
    for (const char byte : key) first = first << 8 | static_cast<unsigned char>(byte);
  }
  return mix(mix(first ^ hash, last + 0xa0761d6478bd642f), seed);
}

}  // namespace ingot::replication_view_generation
