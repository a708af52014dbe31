#include "tests/replication/view/heap/patches.h"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/check.h"
#include "replication/view/heap/check.h"
#include "replication/view/heap/memory.h"
#include "tests/replication/view/heap/heap_store.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kExtents = 48;
constexpr std::size_t kBytes = first_extent_offset(kExtents) + kExtents * kExtentBytes;
constexpr std::size_t kPatchBytes = 12;

// The end of a store that was left in the middle of a batch.
std::unique_ptr<HeapMemory> left_store() {
  auto memory = *private_heap_memory(kBytes);
  Prng prng(7);
  auto heap = *Heap::create(memory->bytes(), kIdentity, 0);
  std::map<std::uint64_t, Revisions> states{{1, {}}, {2, {}}};
  StoreWriter store(*heap, prng);
  store.begin(0);
  for (std::uint64_t now_ms = 0; now_ms < 300; now_ms += 5) {
    if (now_ms % 3 != 0 || !store.reclaim(now_ms, states)) store.change(states);
    INGOT_CHECK(heap->publish(now_ms));
  }
  store.change(states);
  return memory;
}

void seal_roots(Chain chain) {
  const auto number = read_counter(chain, kNumberOffset);
  const std::uint64_t cell = kRootCellsOffset + number.value_or(0) % 2 * kRootCellBytes;
  std::vector<std::uint64_t> words(kRootScalarWords + kRootUserWordsMax);
  chain.load_words(cell + kWordBytes, words);
  const std::size_t user = words[kRootScalarWords - 1];
  if (!number || user > kRootUserWordsMax) return;
  chain.store(cell, check_words(*number, std::span(words).first(kRootScalarWords + user)));
}

// Half of the places are in what is not nodes.
std::uint64_t place_of(std::uint32_t place) {
  const std::uint64_t word = place / 4;
  if (place % 4 < 2) return word * kWordBytes % kBytes;
  const std::uint64_t heads = kUndoOffset + 64 * kUndoEntryBytes;
  const std::uint64_t descriptors = 16 * kDescriptorBytes;
  const std::uint64_t at = word * kWordBytes % (heads + descriptors);
  return at < heads ? at : kDescriptorsOffset + at - heads;
}

void patch(Chain chain, std::string_view patches) {
  for (; patches.size() >= kPatchBytes; patches.remove_prefix(kPatchBytes)) {
    std::uint32_t place;
    std::uint64_t value;
    std::memcpy(&place, patches.data(), sizeof place);
    std::memcpy(&value, patches.data() + sizeof place, sizeof value);
    const std::uint64_t at = place_of(place);
    if (place % 2 != 0) {
      chain.store(at, checked_word(at, value & kContentMask));
    } else {
      chain.store(at, (value & (value - 1)) == 0 ? chain.load(at) ^ value : value);
    }
    const bool in_roots = at >= kRootCellsOffset && at < kListsOffset;
    if (in_roots && value % 3 != 0) seal_roots(chain);
  }
}

}  // namespace

std::string run_patches(std::string_view patches) {
  static const std::unique_ptr<HeapMemory> original = left_store();
  static const std::unique_ptr<HeapMemory> memory = *private_heap_memory(kBytes);
  constexpr std::size_t kPart = first_extent_offset(kExtents) + 30 * kExtentBytes;
  INGOT_CHECK(memory->punch(kPart, kBytes - kPart));
  std::memcpy(memory->bytes().data(), original->bytes().data(), kPart);
  patch(Chain(memory->bytes()), patches);

  std::optional<std::uint64_t> number;
  auto heap = Heap::adopt(memory->bytes(), kIdentity, 0);
  static_cast<void>(read_store(memory->bytes(), number));
  if (!heap.ok()) return "refused";
  Prng prng(9);
  std::map<std::uint64_t, Revisions> states{{(*heap)->published().heap.number, {}}};
  StoreWriter store(**heap, prng);
  for (std::uint64_t now_ms = 100; now_ms < 300; now_ms += 10) {
    if (!store.reclaim(now_ms, states)) store.change(states);
    if (!(*heap)->publish(now_ms)) return "damage";
  }
  return read_store(memory->bytes(), number);
}

std::string sample_patches(Prng& prng) {
  std::string patches;
  for (std::uint64_t left = 1 + prng.below(4); left > 0; --left) {
    const auto place = static_cast<std::uint32_t>(prng.chance(0.3) ? prng.below(1024) : prng());
    const std::uint64_t dice = prng.below(4);
    const std::uint64_t value = dice == 0   ? std::uint64_t{1} << prng.below(64)
                                : dice == 1 ? prng.below(100)
                                : dice == 2 ? prng() & kContentMask
                                            : prng();
    patches.append(reinterpret_cast<const char*>(&place), sizeof place);
    patches.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return patches;
}

}  // namespace ingot::test
