#include "replication/view/heap/root.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "core/rule.h"
#include "replication/view/heap/check.h"

namespace ingot::inline replication_view_heap {
namespace {

using RootWords = std::array<std::uint64_t, 1 + kRootScalarWords + kRootUserWordsMax>;

RootScalars scalars_of(const RootWords& image) {
  std::array<std::uint64_t, kRootScalarWords> words;
  std::copy_n(image.begin() + 1, words.size(), words.begin());
  return std::bit_cast<RootScalars>(words);
}

}  // namespace

std::uint64_t RootCells::cell(std::uint64_t number) {
  return kRootCellsOffset + (INGOT_RULE("two-cells") ? number % 2 : 0) * kRootCellBytes;
}

void RootCells::publish(const HeapRoot& root) {
  const std::uint64_t number = root.heap.number;
  const std::size_t words = kRootScalarWords + root.heap.user_words;
  RootWords image;
  std::memcpy(image.data() + 1, &root.heap, sizeof root.heap);
  std::memcpy(image.data() + 1 + kRootScalarWords, root.user.data(), root.heap.user_words * kWordBytes);
  image[0] = check_words(number, std::span(image).subspan(1, words));
  for (std::size_t i = 0; i <= words; ++i) chain_.store(cell(number) + i * kWordBytes, image[i]);
  // Pairs with HeapReader::begin, and at a kill with adoption.
  chain_.store(kNumberOffset, checked_word(kNumberOffset, number),
              INGOT_RULE("number-release") ? std::memory_order_release : std::memory_order_relaxed);
}

std::optional<HeapRoot> RootCells::read(std::uint64_t number) const {
  RootWords image;
  const std::span<std::uint64_t> fixed = std::span(image).first(1 + kRootScalarWords);
  chain_.load_words(cell(number), fixed);
  HeapRoot root{.heap = scalars_of(image)};
  if (root.heap.user_words > kRootUserWordsMax) return std::nullopt;
  const std::size_t words = kRootScalarWords + root.heap.user_words;
  chain_.load_words(cell(number) + fixed.size_bytes(), std::span(image).subspan(fixed.size(), root.heap.user_words));
  std::memcpy(root.user.data(), image.data() + fixed.size(), root.heap.user_words * kWordBytes);
  const bool whole = image[0] == check_words(number, std::span(image).subspan(1, words)) && root.heap.number == number;
  if (!whole && INGOT_RULE("cells-checked")) return std::nullopt;
  return root;
}

std::optional<std::uint64_t> read_counter(const Chain& chain, std::uint64_t offset) {
  return content_of(offset, chain.load(offset));
}

}  // namespace ingot::replication_view_heap
