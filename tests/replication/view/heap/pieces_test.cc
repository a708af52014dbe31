// The heap's parts by themselves: checks, classes, extents, pins, ages, memory.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/check.h"
#include "replication/view/heap/classes.h"
#include "replication/view/heap/extents.h"
#include "replication/view/heap/memory.h"
#include "replication/view/heap/pins.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

TEST_CASE("each flipped bit of a checked word is found, and so is a word at another place") {
  Prng prng(testing::drawn_seed());
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t offset = prng.below(kHeapBytesMax / 8) * 8;
    const std::uint64_t content = 1 + (prng() & kContentMask) % (std::uint64_t{1} << (1 + prng.below(47)));
    const std::uint64_t word = checked_word(offset, content);
    REQUIRE(content_of(offset, word) == content);
    for (int bit = 0; bit < 64; ++bit) REQUIRE(content_of(offset, word ^ std::uint64_t{1} << bit) == std::nullopt);
    REQUIRE(content_of(offset ^ 8, word) == std::nullopt);
  }
}

TEST_CASE("a word that was never stored has no content, and a flipped bit gives it none") {
  for (std::uint64_t offset = 0; offset < 1 << 20; offset += 8) {
    REQUIRE(content_of(offset, 0) == 0);
    for (int bit = 0; bit < 64; ++bit) REQUIRE(content_of(offset, std::uint64_t{1} << bit).value_or(0) == 0);
  }
}

TEST_CASE("a node has the least class with room for it") {
  for (std::size_t bytes = 1; bytes <= kHeapNodeBytesMax; ++bytes) {
    const std::size_t chosen = class_of(bytes);
    REQUIRE(kClassBytes[chosen] >= bytes);
    if (chosen > 0) REQUIRE(kClassBytes[chosen - 1] < bytes);
  }
}

// ---- Extents -------------------------------------------------------------------------------------------------------

struct ExtentsFixture {
  explicit ExtentsFixture(std::uint64_t count)
      : memory(*private_heap_memory(first_extent_offset(count) + count * kExtentBytes)),
        chain(memory->bytes()),
        words(chain),
        extents(chain, words, scalars, damage) {
    begin();
  }
  void begin() { words.begin(++tag); }

  std::unique_ptr<HeapMemory> memory;
  Chain chain;
  Words words;
  RootScalars scalars;
  HeapDamage damage;
  std::uint64_t tag = 0;
  Extents extents;
};

TEST_CASE("nodes never overlap, and their memory is used again") {
  Prng prng(testing::drawn_seed());
  ExtentsFixture heap(40);
  std::map<std::uint64_t, std::size_t> nodes;  // bytes, by offset
  std::uint64_t allocations = 0;
  double growth = 0.6;
  for (int i = 0; i < 200'000; ++i) {
    if (i % 20'000 == 0) growth = prng.unit();
    heap.begin();
    if (nodes.empty() || prng.chance(growth)) {
      const std::size_t bytes = 1 + (prng.chance(0.8) ? prng.below(300) : prng.below(kHeapNodeBytesMax));
      const auto ref = heap.extents.allocate(bytes);
      if (!ref) {
        growth = 0.3;
        continue;
      }
      ++allocations;
      const std::uint64_t at = offset_of(*ref);
      const auto behind = nodes.lower_bound(at);
      REQUIRE((behind == nodes.end() || behind->first >= at + bytes));
      if (behind != nodes.begin()) {
        const auto before = std::prev(behind);
        REQUIRE(before->first + before->second <= at);
      }
      REQUIRE(at + bytes <= heap.chain.size());
      nodes[at] = bytes;
    } else {
      auto gone = nodes.lower_bound(prng.below(heap.chain.size()));
      if (gone == nodes.end()) gone = nodes.begin();
      heap.extents.free(ref_at(gone->first));
      nodes.erase(gone);
    }
  }
  CHECK(heap.damage.status().ok());
  CHECK(allocations > 40 * 16);
  std::uint64_t bytes = 0;
  for (const auto& [at, size] : nodes) bytes += kClassBytes[class_of(size)];
  CHECK(heap.scalars.bytes_used == bytes);
}

TEST_CASE("all memory of a class is used, then another class takes what was freed") {
  ExtentsFixture heap(4);
  std::vector<HeapRef> refs;
  for (auto ref = heap.extents.allocate(48); ref; ref = heap.extents.allocate(48)) {
    refs.push_back(*ref);
    heap.begin();
  }
  CHECK(refs.size() == 4 * nodes_in_extent(0));
  CHECK(heap.extents.extents_free() == 0);
  CHECK_FALSE(heap.extents.allocate(4096).has_value());
  for (const HeapRef ref : refs) {
    heap.extents.free(ref);
    heap.begin();
  }
  CHECK(heap.extents.extents_free() == 3);  // a list keeps its first extent
  std::size_t large = 0;
  while (heap.extents.allocate(4096)) ++large;
  CHECK(large == 3 * nodes_in_extent(kClasses - 1));
  CHECK(heap.damage.status().ok());
}

TEST_CASE("what no node can be is never freed") {
  ExtentsFixture heap(4);
  const HeapRef node = *heap.extents.allocate(48);
  const std::uint64_t wrong[] = {0, 16, kTableOffset, offset_of(node) + 16, offset_of(node) + 48,
                                 offset_of(node) + kExtentBytes, kHeapBytesMax - 16};
  for (const std::uint64_t at : wrong) {
    ExtentsFixture other(4);
    REQUIRE(other.extents.allocate(48) == node);
    const auto noted = other.words.noted();
    other.extents.free(ref_at(at));
    CHECK(absl::IsDataLoss(other.damage.status()));
    CHECK(other.words.noted() == noted);
    CHECK_FALSE(other.extents.allocate(48).has_value());
  }
  heap.extents.free(node);
  CHECK(heap.damage.status().ok());
  heap.extents.free(node);
  CHECK(absl::IsDataLoss(heap.damage.status()));
}

// ---- Pins and ages -------------------------------------------------------------------------------------------------

TEST_CASE("the oldest pin is broken at the bound, and its holder learns it") {
  Pins pins;
  CHECK(pins.lowest() == ~std::uint64_t{0});
  const PinId first = pins.add(7);
  CHECK(pins.lowest() == 7);
  PinId last = 0;
  for (std::size_t i = 1; i < kPinsMax; ++i) last = pins.add(7 + i);
  CHECK(pins.holds(first));
  pins.add(500);
  CHECK_FALSE(pins.holds(first));
  CHECK(pins.lowest() == 8);
  CHECK(pins.size() == kPinsMax);
  pins.release(last);
  CHECK(pins.size() == kPinsMax - 1);
  pins.release(first);
  pins.break_oldest();
  CHECK(pins.lowest() == 9);
}

TEST_CASE("a batch is old when it was published that long ago, however many are") {
  Prng prng(testing::drawn_seed());
  BatchAges ages;
  std::map<std::uint64_t, std::uint64_t> published;  // by batch: when
  std::uint64_t now_ms = 5;
  for (std::uint64_t batch = 1; batch < 20'000; ++batch) {
    now_ms += prng.chance(0.5) ? 0 : prng.chance(0.98) ? prng.below(3) : prng.below(100);
    ages.published(batch, now_ms);
    published[batch] = now_ms;
    if (!prng.chance(0.2)) continue;
    std::uint64_t oldest = 0;
    for (auto at = published.rbegin(); at != published.rend() && oldest == 0; ++at) {
      if (at->second + kRetiredMs <= now_ms) oldest = at->first;
    }
    REQUIRE(ages.older_than(kRetiredMs, now_ms) == oldest);
  }
}

// ---- Memory --------------------------------------------------------------------------------------------------------

TEST_CASE("memory is zero, is populated, and is zero again when it was punched") {
  const auto fd = create_segment("ingot-test-heap", 4 * kExtentBytes);
  REQUIRE(fd.ok());
  auto shared = shared_heap_memory(fd->get());
  auto plain = private_heap_memory(4 * kExtentBytes);
  REQUIRE(shared.ok());
  REQUIRE(plain.ok());
  for (HeapMemory* memory : {shared->get(), plain->get()}) {
    REQUIRE(memory->bytes().size() == 4 * kExtentBytes);
    CHECK(memory->populate(kExtentBytes, 2 * kExtentBytes));
    std::fill(memory->bytes().begin(), memory->bytes().end(), std::byte{7});
    CHECK(memory->punch(kExtentBytes, kExtentBytes));
    const auto is = [&](std::size_t extent, std::byte value) {
      const auto part = memory->bytes().subspan(extent * kExtentBytes, kExtentBytes);
      return std::all_of(part.begin(), part.end(), [value](std::byte byte) { return byte == value; });
    };
    CHECK(is(0, std::byte{7}));
    CHECK(is(1, std::byte{0}));
    CHECK(is(2, std::byte{7}));
  }
  CHECK_FALSE(shared_heap_memory(-1).ok());
}

}  // namespace
}  // namespace ingot::test
