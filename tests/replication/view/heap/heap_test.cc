// A heap as its users see it: batches, roots, retiring and reclaiming, errors of creation and adoption.
#include "replication/view/heap/heap.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replication/view/heap/memory.h"
#include "replication/view/heap/reader.h"

namespace ingot::test {
namespace {

constexpr HeapIdentity kIdentity{.replica = 2, .chain_id = 77};
constexpr std::size_t kBytes = first_extent_offset(80) + 80 * kExtentBytes;

struct Fixture {
  std::unique_ptr<HeapMemory> memory = *private_heap_memory(kBytes);
  std::unique_ptr<Heap> heap = *Heap::create(memory->bytes(), kIdentity, 0);
  std::uint64_t now_ms = 0;

  HeapRef add(std::uint64_t value) {
    const std::array<std::uint64_t, 1> content{value};
    return *heap->add({.kind = 1}, content);
  }
  void publish() { REQUIRE(heap->publish(now_ms)); }
  std::size_t reclaim() {
    return heap->reclaim(now_ms, [](const Retired&) { FAIL("nothing is handed back"); });
  }
  void adopt() { heap = *Heap::adopt(memory->bytes(), kIdentity, now_ms); }
};

struct Scalars {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

TEST_CASE("what was published outlives its writer, what was not is undone") {
  Fixture of;
  const HeapRef node = of.add(11);
  of.heap->set(table_word(5), node.value());
  of.heap->set_user(Scalars{1, 2});
  of.publish();
  of.heap->set(table_word(5), of.add(12).value());
  of.heap->set(table_word(6), 1);
  of.heap->set_raw(table_word(7), ~std::uint64_t{0});
  of.heap->set_user(Scalars{3, 4});
  of.adopt();
  CHECK(of.heap->content(table_word(5)) == node.value());
  CHECK(of.heap->content(table_word(6)) == 0);
  CHECK(of.heap->raw(table_word(7)) == 0);
  CHECK(of.heap->user<Scalars>().second == 2);
  CHECK(of.heap->published().heap.number == 2);
  std::array<std::uint64_t, 3> read;
  CHECK(of.heap->read(node, read));
  CHECK(read[2] == 11);
  CHECK(NodeBirth::from(read[1]) == NodeBirth{1, 2});
  CHECK(of.add(13) != node);
}

TEST_CASE("an incarnation after many has the state of the last root") {
  Fixture of;
  for (std::uint64_t i = 1; i < 300; ++i) {
    of.heap->set(table_word(i % 7), i);
    if (i % 3 == 0) of.publish();
    if (i % 2 == 0) of.adopt();
  }
  CHECK(of.heap->content(table_word(297 % 7)) == 297);
  CHECK(of.heap->content(table_word(298 % 7)) == 291);  // 298 was not published
}

TEST_CASE("retired nodes are freed when they are old, and no earlier") {
  Fixture of;
  std::vector<HeapRef> nodes;
  for (std::uint64_t i = 0; i < 700; ++i) nodes.push_back(of.add(i));
  of.publish();
  const std::uint64_t used = of.heap->scalars().bytes_used;
  for (const HeapRef node : nodes) of.heap->retire(node);
  of.publish();
  CHECK(of.heap->scalars().bytes_retired == 700 * 48);
  of.now_ms = kRetiredMs - 1;
  CHECK(of.reclaim() == 0);
  of.now_ms = kRetiredMs;
  std::vector<std::size_t> freed;
  while (const std::size_t count = of.reclaim()) {
    freed.push_back(count);
    of.publish();
  }
  CHECK(freed == std::vector<std::size_t>{kReclaimedMax, kReclaimedMax, 700 - 2 * kReclaimedMax});
  CHECK(of.heap->scalars().bytes_retired == 0);
  CHECK(of.heap->scalars().bytes_used == used - 700 * 48 + kHeapNodeBytesMax);  // a chunk of the queue stays
}

TEST_CASE("a pin holds what its root reaches, and not what was retired before") {
  Fixture of;
  const HeapRef first = of.add(1), second = of.add(2);
  of.publish();
  of.heap->retire(first);
  of.publish();
  const PinId pin = of.heap->pin();
  of.heap->retire(second);
  of.publish();
  of.now_ms = 1000;
  CHECK(of.reclaim() == 1);
  of.publish();
  CHECK(of.reclaim() == 0);
  of.heap->unpin(pin);
  CHECK(of.reclaim() == 1);
}

TEST_CASE("an adopted queue is as old as the adoption") {
  Fixture of;
  of.heap->retire(of.add(1));
  of.publish();
  of.now_ms = 1000;
  of.adopt();
  CHECK(of.reclaim() == 0);
  of.now_ms += kRetiredMs;
  CHECK(of.reclaim() == 1);
}

TEST_CASE("a user's entries are handed back before anything of the batch is freed") {
  Fixture of;
  const HeapRef plain = of.add(1), theirs = of.add(2);
  of.publish();
  of.heap->retire(plain);
  of.heap->retire(theirs, 9);
  of.publish();
  of.now_ms = 100;
  const std::uint64_t used = of.heap->scalars().bytes_used;
  std::size_t handed = 0;
  CHECK(of.heap->reclaim(of.now_ms, [&](const Retired& retired) {
    ++handed;
    CHECK(retired.ref == theirs);
    CHECK(retired.kind == 9);
    CHECK(of.heap->scalars().bytes_used == used);
    of.heap->retire(retired.ref);
  }) == 2);
  CHECK(handed == 1);
  of.publish();
  CHECK(of.heap->scalars().bytes_used == used - 48);
  CHECK(of.heap->retire_queue().size() == 1);
}

TEST_CASE("what does not fit into the undo log is handed back in a later batch") {
  Fixture of;
  for (std::uint64_t i = 0; i < kReclaimedMax; ++i) of.heap->retire(of.add(i), 9);
  of.publish();
  of.now_ms = 100;
  std::uint64_t word = 0;
  const auto hand_back = [&](const Retired& retired) {
    for (std::size_t i = 0; i < kHandedBackWordsMax - 20; ++i, ++word) of.heap->set(table_word(word % kTableWords), 1);
    of.heap->retire(retired.ref);
  };
  std::size_t handed = 0, batches = 0;
  while (const std::size_t count = of.heap->reclaim(of.now_ms, hand_back)) {
    of.publish();
    handed += count;
    ++batches;
  }
  CHECK(handed == kReclaimedMax);
  CHECK(batches >= kReclaimedMax / (kUndoEntriesMax / kHandedBackWordsMax));
  CHECK(batches < kReclaimedMax);
}

TEST_CASE("a reader of an old root begins again when something of it was reclaimed") {
  Fixture of;
  const HeapRef node = of.add(1);
  of.publish();
  auto reader = HeapReader::open(of.memory->bytes(), kIdentity);
  REQUIRE(reader.ok());
  REQUIRE(reader->begin().has_value());
  of.heap->retire(node);
  of.publish();
  CHECK(reader->counts());
  of.now_ms = kRetiredMs;
  CHECK(of.reclaim() == 1);
  CHECK_FALSE(reader->counts());
  REQUIRE(reader->begin().has_value());
  CHECK(reader->counts());
  of.adopt();
  CHECK_FALSE(reader->counts());
}

TEST_CASE("a reader reads nothing outside of the memory") {
  Fixture of;
  const auto reader = *HeapReader::open(of.memory->bytes(), kIdentity);
  std::array<std::uint64_t, 512> words;
  CHECK_FALSE(reader.copy(HeapRef(0), std::span(words).first(1)));
  CHECK_FALSE(reader.copy(ref_at(kTableOffset), std::span(words).first(1)));
  CHECK_FALSE(reader.copy(ref_at(kBytes - 4080), words));
  CHECK(reader.copy(ref_at(kBytes - 4096), words));
  CHECK_FALSE(reader.copy(HeapRef(~std::uint32_t{0}), words));
  CHECK(reader.content(kBytes) == std::nullopt);
  CHECK(reader.content(~std::uint64_t{7}) == std::nullopt);
  CHECK(reader.content(table_word(0) + 4) == std::nullopt);
  CHECK(reader.content(table_word(0)) == 0);
}

TEST_CASE("room and undo entries are known before they end") {
  Fixture of;
  CHECK(of.heap->has_room(1 << 20));
  CHECK_FALSE(of.heap->has_room(80 * kExtentBytes));
  const std::size_t before = of.heap->words_left();
  for (std::size_t i = 0; i < before; ++i) of.heap->set(table_word(i), 1);
  CHECK(of.heap->words_left() == 0);
  of.adopt();
  for (std::size_t i = 0; i < before; ++i) REQUIRE(of.heap->content(table_word(i)) == 0);
  CHECK(of.heap->words_left() == before);
}

TEST_CASE("a damaged heap publishes nothing, and says where the damage is") {
  Fixture of;
  of.heap->set(table_word(1), 7);
  of.publish();
  of.memory->bytes()[table_word(1)] ^= std::byte{16};
  CHECK(of.heap->content(table_word(1)) == 0);
  CHECK(absl::IsDataLoss(of.heap->status()));
  CHECK(of.heap->status().message().find(std::to_string(table_word(1))) != std::string_view::npos);
  CHECK_FALSE(of.heap->publish(0));
  CHECK_FALSE(of.heap->allocate(48).has_value());
  CHECK(of.heap->reclaim(1000, [](const Retired&) {}) == 0);
  of.adopt();
  CHECK(of.heap->published().heap.number == 2);
}

TEST_CASE("memory is created once, and adopted by its own replica only") {
  auto memory = *private_heap_memory(kBytes);
  CHECK(absl::IsNotFound(Heap::adopt(memory->bytes(), kIdentity, 0).status()));
  CHECK(absl::IsInvalidArgument(Heap::create(memory->bytes().first(kExtentBytes), kIdentity, 0).status()));
  CHECK(absl::IsDataLoss(Heap::adopt(memory->bytes().first(4096), kIdentity, 0).status()));
  REQUIRE(Heap::create(memory->bytes(), kIdentity, 0).ok());
  CHECK(Heap::adopt(memory->bytes(), kIdentity, 0).ok());
  for (const HeapIdentity other : {HeapIdentity{3, 77}, HeapIdentity{2, 78}}) {
    CHECK(absl::IsFailedPrecondition(Heap::adopt(memory->bytes(), other, 0).status()));
    CHECK(absl::IsFailedPrecondition(HeapReader::open(memory->bytes(), other).status()));
  }
  CHECK(absl::IsFailedPrecondition(Heap::adopt(memory->bytes().first(kBytes - 4096), kIdentity, 0).status()));
}

}  // namespace
}  // namespace ingot::test
