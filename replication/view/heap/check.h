// Checks of what lies in a chain: they find each single flipped bit, and bytes that lie at another place than they were
// written for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/stable_hash.h"

namespace ingot::inline replication_view_heap {

// ---- Words ---------------------------------------------------------------------------------------------------------
//
// A checked word has 48 bits of content, lowest, and above them 16 of check: the remainder of content and address by a
// prime, plus 1. A flipped bit changes the content by a power of two, which no odd prime divides, so each one is found;
// and it costs a multiplication, where a CRC without the processor's help takes a table look-up for each byte. Content
// 0 is the word 0, which memory has before anything was stored in it.

inline constexpr int kContentBits = 48;
inline constexpr std::uint64_t kContentMask = (std::uint64_t{1} << kContentBits) - 1;

inline constexpr std::uint64_t word_check(std::uint64_t offset, std::uint64_t content) {
  constexpr std::uint64_t kPrime = 65521;            // the largest one below 2^16
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // neighbouring words have unrelated checks
  return (content + ((offset * kSpread) >> 16)) % kPrime + 1;
}

// REQUIRES: content <= kContentMask.
inline constexpr std::uint64_t checked_word(std::uint64_t offset, std::uint64_t content) {
  return content == 0 ? 0 : content | word_check(offset, content) << kContentBits;
}

// The content of the word at that offset; nothing: it is damaged.
inline constexpr std::optional<std::uint64_t> content_of(std::uint64_t offset, std::uint64_t word) {
  const std::uint64_t content = word & kContentMask;
  if (word != checked_word(offset, content)) return std::nullopt;
  return content;
}

// ---- Many words ----------------------------------------------------------------------------------------------------

// Folds words, two at a time, into a hash. `skip_from` and `skip_to` are indices of words that it leaves out.
inline std::uint64_t check_words(std::uint64_t seed, std::span<const std::uint64_t> words, std::size_t skip_from = 0,
                                 std::size_t skip_to = 0) {
  std::uint64_t hash = mix(seed, words.size());
  const auto fold = [&hash](std::span<const std::uint64_t> part) {
    std::size_t i = 0;
    for (; i + 1 < part.size(); i += 2) hash = mix(part[i] ^ hash, part[i + 1] + 0xd6e8feb86659fd93);
    if (i < part.size()) hash = mix(part[i] ^ hash, 0xa0761d6478bd642f);
  };
  fold(words.first(skip_from));
  fold(words.subspan(skip_to));
  return hash;
}

}  // namespace ingot::replication_view_heap
