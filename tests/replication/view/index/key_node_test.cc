// Key nodes: keys of all sizes are written, read and compared; a node of other bytes is no key.
#include "replication/view/index/key_node.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/memory.h"
#include "replication/view/heap/reader.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

constexpr HeapIdentity kIdentity{.replica = 2, .chain_id = 77};
constexpr std::size_t kBytes = first_extent_offset(400) + 400 * kExtentBytes;
constexpr std::size_t kSizes[] = {1,    7,    8,    15,   16,   31,   32,   33,    2047,
                                  2048, 2049, 6127, 6128, 6129, 6130, 50'000, kStoredBytesMax};

struct Fixture {
  std::unique_ptr<HeapMemory> memory = *private_heap_memory(kBytes);
  std::unique_ptr<Heap> heap = *Heap::create(memory->bytes(), kIdentity, 0);

  void flip(std::uint64_t bit) { memory->bytes()[bit / 8] ^= std::byte{1} << bit % 8; }
};

std::string text(Prng& prng, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(prng());
  return text;
}

// Strings that differ from one in its last byte or its length, below and above it.
std::vector<std::string> neighbours(const std::string& key) {
  std::vector<std::string> found{key + '\0', key + "x", key.substr(0, key.size() - 1), ""};
  for (const std::size_t at : {std::size_t{0}, key.size() / 2, key.size() - 1}) {
    for (const char change : {'\x01', '\x80'}) {
      found.push_back(key);
      found.back()[at] ^= change;
    }
  }
  return found;
}

TEST_CASE("a key of any size is written, read and compared, by the writer and by readers") {
  Prng prng(testing::drawn_seed());
  Fixture of;
  const auto reader = *HeapReader::open(of.memory->bytes(), kIdentity);
  for (const std::size_t bytes : kSizes) {
    const std::string key = text(prng, bytes);
    const HeapRef ref = *add_key(*of.heap, key, {HeapRef(9), 7});
    REQUIRE(of.heap->publish(0));
    CHECK(KeyHead::from(of.heap->content(key_head_word(ref))) == KeyHead{HeapRef(9), 7});
    of.heap->set(key_head_word(ref), KeyHead{HeapRef(10), 8}.content());
    for (const NodeSource& source : {of.heap->nodes(), reader.nodes()}) {
      KeyNode node;
      std::string scratch;
      REQUIRE(node.read(source, ref));
      CHECK(node.hash() == key_hash(key));
      CHECK(node.bytes() == bytes);
      CHECK(node.key(source, scratch) == key);
      CHECK(node.compare(source, key) == std::strong_ordering::equal);
      CHECK(is_key(source, ref, key, key_hash(key)) == true);
      for (const std::string& other : neighbours(key)) {
        REQUIRE(node.compare(source, other) == (key <=> other));
        REQUIRE(is_key(source, ref, other, key_hash(other)) == false);
        REQUIRE(is_key(source, ref, other, key_hash(key)) == false);
      }
    }
  }
  CHECK(of.heap->status().ok());
}

TEST_CASE("a retired key gives back all that it took, which is not above the room that was asked for") {
  Fixture of;
  for (const std::size_t bytes : kSizes) {
    const std::uint64_t before = of.heap->scalars().bytes_used;
    const HeapRef ref = *add_key(*of.heap, std::string(bytes, 'k'), {});
    const std::uint64_t taken = of.heap->scalars().bytes_used - before;
    CHECK(taken <= kClassBytes[class_of(std::min(key_room(bytes), kHeapNodeBytesMax))] + key_room(bytes));
    REQUIRE(of.heap->publish(0));
    const std::uint64_t retired = of.heap->scalars().bytes_retired;
    KeyNode node;
    REQUIRE(node.read(of.heap->nodes(), ref));
    node.retire(*of.heap, ref);
    CHECK(of.heap->scalars().bytes_retired == retired + taken);
    REQUIRE(of.heap->publish(0));
  }
}

TEST_CASE("each flipped bit of a key node is found, and the key is taken for no other one") {
  Fixture of;
  for (const std::size_t bytes : {std::size_t{5}, std::size_t{40}, std::size_t{2100}}) {
    const std::string key(bytes, 'k');
    const HeapRef ref = *add_key(*of.heap, key, {});
    REQUIRE(of.heap->publish(0));
    const auto reader = *HeapReader::open(of.memory->bytes(), kIdentity);
    const std::uint64_t begin = offset_of(ref), head = key_head_word(ref);
    const std::uint64_t end = begin + key_room(std::min(bytes, kKeyBytesInNode));
    for (std::uint64_t at = begin; at < end; ++at) {
      if (at >= head && at < head + kWordBytes) continue;  // a word, which is read by itself
      for (int bit = 0; bit < 8; ++bit) {
        of.flip(at * 8 + static_cast<std::uint64_t>(bit));
        KeyNode node;
        INFO("bit " << bit << " of byte " << at - begin << " of a key of " << bytes);
        REQUIRE_FALSE(node.read(reader.nodes(), ref));
        // A difference is never taken for another key; what the comparison does not read does no harm.
        REQUIRE(is_key(reader.nodes(), ref, key, key_hash(key)).value_or(true));
        of.flip(at * 8 + static_cast<std::uint64_t>(bit));
      }
    }
  }
}

TEST_CASE("a reference to no key is damage for the writer and garbage for a reader") {
  const auto read_at = [](HeapRef (*find)(Fixture&)) {
    Fixture of;
    const HeapRef ref = find(of);
    const auto reader = *HeapReader::open(of.memory->bytes(), kIdentity);
    KeyNode node;
    CHECK_FALSE(node.read(reader.nodes(), ref));
    CHECK(is_key(reader.nodes(), ref, "key", key_hash("key")) == std::nullopt);
    CHECK(of.heap->status().ok());
    CHECK_FALSE(node.read(of.heap->nodes(), ref));
    CHECK(absl::IsDataLoss(of.heap->status()));
  };
  read_at([](Fixture&) { return HeapRef(0); });
  read_at([](Fixture&) { return ref_at(kTableOffset); });
  read_at([](Fixture&) { return ref_at(kBytes - 16); });
  read_at([](Fixture&) { return HeapRef(~std::uint32_t{0}); });
  read_at([](Fixture& of) { return *of.heap->allocate(48); });
  read_at([](Fixture& of) {
    const std::uint64_t content[] = {0, key_hash("key") | std::uint64_t{3} << 32, 0x79656c};
    return *of.heap->add({.kind = 2}, content, {.first = 0, .count = 1});
  });
}

}  // namespace
}  // namespace ingot::test
