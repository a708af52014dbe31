// Damaged memory: a flipped bit is never served, and no bytes lead to a crash, a hang or an access outside.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/memory.h"
#include "tests/replication/view/heap/heap_store.h"
#include "tests/replication/view/heap/patches.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kExtents = 40;
constexpr std::size_t kBytes = first_extent_offset(kExtents) + kExtents * kExtentBytes;

// A store in the middle of a batch, and a copy of its memory to damage.
struct Left {
  explicit Left(std::uint64_t seed) {
    Prng prng(seed);
    auto heap = *Heap::create(memory->bytes(), kIdentity, 0);
    std::map<std::uint64_t, Revisions> states{{1, {}}, {2, {}}};
    StoreWriter store(*heap, prng);
    store.begin(0);
    std::uint64_t now_ms = 0;
    for (int i = 0; i < 40; ++i, now_ms += 5) {
      if (i % 3 != 0 || !store.reclaim(now_ms, states)) store.change(states);
      REQUIRE(heap->publish(now_ms));
    }
    root = heap->published();
    state = states.at(root.heap.number);
    while (heap->words_left() > kUndoEntriesMax - 12) store.change(states);
  }

  std::unique_ptr<HeapMemory> memory = *private_heap_memory(kBytes);
  std::unique_ptr<HeapMemory> copy = *private_heap_memory(kBytes);
  HeapRoot root;
  Revisions state;

  // The words in which anything lies.
  std::vector<std::uint64_t> places() const {
    std::vector<std::uint64_t> found;
    const Chain chain(memory->bytes());
    for (std::uint64_t at = 0; at < kBytes; at += kWordBytes) {
      if (chain.load(at) != 0) found.push_back(at);
    }
    return found;
  }

  void flip(std::uint64_t at, int bit) {
    const std::size_t used = first_extent_offset(kExtents) + root.heap.extents_begun * kExtentBytes + kExtentBytes;
    static_cast<void>(copy->punch(0, kBytes));
    std::memcpy(copy->bytes().data(), memory->bytes().data(), used);
    Chain chain(copy->bytes());
    chain.store(at, chain.load(at) ^ std::uint64_t{1} << bit);
  }

  // What becomes of the flipped bit: "found", "harmless", or what was served wrongly.
  std::string outcome(std::uint64_t seed) {
    std::optional<std::uint64_t> number;
    auto heap = Heap::adopt(copy->bytes(), kIdentity, 0);
    if (!heap.ok()) return "found";
    std::string text = read_store(copy->bytes(), number);
    if (text.empty() || text.starts_with("garbage")) return "found";
    if (text != to_text(state)) return "adopted: " + text + " for " + to_text(state);
    Prng prng(seed);
    std::map<std::uint64_t, Revisions> states{{root.heap.number, state}};
    StoreWriter store(**heap, prng);
    for (std::uint64_t now_ms = 100; now_ms < 250; now_ms += 10) {
      if (now_ms % 20 != 0 || !store.reclaim(now_ms, states)) store.change(states);
      if (!(*heap)->publish(now_ms)) return "found";
    }
    text = read_store(copy->bytes(), number);
    if (text.empty() || text.starts_with("garbage")) return "found";
    const std::string wanted = to_text(states.at((*heap)->published().heap.number));
    return text == wanted ? "harmless" : "later: " + text + " for " + wanted;
  }
};

void flip_and_check(Left& left, std::uint64_t at, int bit, bool must_be_found) {
  left.flip(at, bit);
  const std::string outcome = left.outcome(at + static_cast<std::uint64_t>(bit));
  INFO("bit " << bit << " of the word at " << at);
  if (must_be_found) {
    REQUIRE(outcome == "found");
  } else if (outcome != "found") {
    REQUIRE(outcome == "harmless");
  }
}

TEST_CASE("each flipped bit of what adoption relies on is found") {
  Left left(testing::drawn_seed());
  const std::uint64_t cell = kRootCellsOffset + left.root.heap.number % 2 * kRootCellBytes;
  std::vector<std::uint64_t> words{kNumberOffset, kMarkOffset, kIncarnationOffset, kUndoTagOffset};
  for (std::size_t i = 0; i < kIdentityWords; ++i) words.push_back(kIdentityOffset + i * kWordBytes);
  const std::size_t root_words = 1 + kRootScalarWords + left.root.heap.user_words;
  for (std::size_t i = 0; i < root_words; ++i) words.push_back(cell + i * kWordBytes);
  for (const std::uint64_t word : words) {
    for (int bit = 0; bit < 64; ++bit) flip_and_check(left, word, bit, true);
  }
}

TEST_CASE("a flipped bit of an undo entry is found, or nothing is lost by it") {
  Left left(testing::drawn_seed());
  for (std::uint64_t at = undo_entry(0); at < undo_entry(14); at += kWordBytes) {
    for (int bit = 0; bit < 64; ++bit) flip_and_check(left, at, bit, false);
  }
}

TEST_CASE("each flipped bit of a node that is reached is found") {
  Left left(testing::drawn_seed());
  auto heap = *Heap::adopt(left.memory->bytes(), kIdentity, 0);
  std::array<std::uint64_t, kHeapNodeBytesMax / kWordBytes> image;
  std::size_t nodes = 0;
  for (std::size_t key = 0; key < kKeys; ++key) {
    const auto word = key < kTableKeys ? 0 : content_offset(HeapRef(static_cast<std::uint32_t>(
                                                 left.root.user_as<Scalars>().directory)), 1 + key - kTableKeys);
    if (word == 0 || heap->content(word) == 0) continue;
    const HeapRef ref(static_cast<std::uint32_t>(heap->content(word)));
    const std::uint64_t words = heap->raw(content_offset(ref, 3));
    const auto node = std::span(image).first(kNodeHeaderWords + kVersionWords + words);
    REQUIRE(heap->read(ref, node));
    ++nodes;
    for (std::size_t i = 0; i < node.size(); ++i) {
      for (int bit = 0; bit < 64; ++bit) {
        node[i] ^= std::uint64_t{1} << bit;
        REQUIRE_FALSE(node_fits(ref, node));
        node[i] ^= std::uint64_t{1} << bit;
      }
    }
    REQUIRE_FALSE(node_fits(HeapRef(ref.value() + 3), node));
  }
  CHECK(nodes > 0);
}

TEST_CASE("a flipped bit anywhere is found, or nothing wrong is served") {
  const std::uint64_t seed = testing::drawn_seed();
  Prng prng(seed);
  Left left(seed);
  const auto places = left.places();
  for (int i = 0; i < 3000; ++i) {
    flip_and_check(left, places[prng.below(places.size())], static_cast<int>(prng.below(64)), false);
  }
}

TEST_CASE("patched memory is adopted or refused, and never leads outside") {
  Prng prng(testing::drawn_seed());
  std::map<std::string, int> outcomes;
  for (int i = 0; i < 4000; ++i) {
    const std::string outcome = run_patches(sample_patches(prng));
    ++outcomes[outcome.starts_with("store") ? "state" : outcome];
  }
  CHECK(outcomes["refused"] > 100);
  CHECK(outcomes["damage"] > 100);
  CHECK(outcomes["state"] > 100);
}

TEST_CASE("random bytes are refused") {
  Prng prng(testing::drawn_seed());
  auto memory = *private_heap_memory(kBytes);
  for (int i = 0; i < 20; ++i) {
    for (std::size_t at = 0; at < kDescriptorsOffset; at += kWordBytes) {
      const std::uint64_t word = prng();
      std::memcpy(memory->bytes().data() + at, &word, sizeof word);
    }
    CHECK_FALSE(Heap::adopt(memory->bytes(), kIdentity, 0).ok());
    std::memcpy(memory->bytes().data(), &kHeapMagic, sizeof kHeapMagic);
    CHECK_FALSE(Heap::adopt(memory->bytes(), kIdentity, 0).ok());
    CHECK_FALSE(HeapReader::open(memory->bytes(), kIdentity).ok());
  }
}

}  // namespace
}  // namespace ingot::test
