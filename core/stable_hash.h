// A hash that is the same on every replica and in every build, and never changes: digests, checksums and HashKV use it.
//
// Bytes are folded 16 at a time by a 64 x 64 -> 128 bit multiplication whose halves are combined. Detects accidental
// damage; not cryptographic: collisions are easy to make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ingot::inline core {

// Mixes two words into one; order and value of both matter.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a ^ 0x8f1bbcdcbfa53e0b) * (b ^ 0x3c6ef372fe94f82d);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Folds the next two words into a hash.
inline std::uint64_t fold_words(std::uint64_t hash, const char* two_words) {
  std::uint64_t words[2];
  std::memcpy(words, two_words, sizeof words);
  return mix(words[0] ^ hash, words[1] + 0xd6e8feb86659fd93);
}

inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0) {
  std::uint64_t words[2] = {};
  std::uint64_t hash = mix(seed, bytes.size());
  for (; bytes.size() >= sizeof words; bytes.remove_prefix(sizeof words)) hash = fold_words(hash, bytes.data());
  if (!bytes.empty()) std::memcpy(words, bytes.data(), bytes.size());
  return mix(mix(words[0] ^ hash, words[1] + 0xa0761d6478bd642f), hash);
}

// Hash of bytes that come in parts, however they are divided. Differs from hash_bytes() of the whole, which starts with
// the length.
class RunningHash {
 public:
  void add(std::string_view part) {
    bytes_ += part.size();
    if (rest_bytes_ > 0) part.remove_prefix(keep(part));
    if (rest_bytes_ == sizeof rest_) {
      hash_ = fold_words(hash_, rest_);
      rest_bytes_ = 0;
    }
    for (; part.size() >= sizeof rest_; part.remove_prefix(sizeof rest_)) hash_ = fold_words(hash_, part.data());
    keep(part);
  }

  std::uint64_t value() const {
    return mix(hash_, hash_bytes(std::string_view(rest_, rest_bytes_), bytes_));
  }

 private:
  // Takes as much of `part` as fits, until there are two words. Returns the number of bytes taken.
  std::size_t keep(std::string_view part) {
    const std::size_t kept = part.copy(rest_ + rest_bytes_, sizeof rest_ - rest_bytes_);
    rest_bytes_ += kept;
    return kept;
  }

  std::uint64_t hash_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t rest_bytes_ = 0;  // below sizeof rest_ between two calls
  char rest_[2 * sizeof(std::uint64_t)] = {};
};

}  // namespace ingot::core
