// The ordered tree is a sorted map, whatever the keys: checked against a set of them, with all books.
#include "replication/view/index/tree.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/memory.h"
#include "replication/view/index/key_node.h"
#include "tests/replication/view/index/tree_store.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

constexpr HeapIdentity kIdentity{.replica = 1, .chain_id = 5};
constexpr std::uint64_t kExtents = 1200;

struct Fixture {
  explicit Fixture(std::vector<std::string> drawn) : keys(std::move(drawn)) {}

  std::vector<std::string> keys;
  std::unique_ptr<HeapMemory> memory = *private_heap_memory(first_extent_offset(kExtents) + kExtents * kExtentBytes);
  std::unique_ptr<Heap> heap = *Heap::create(memory->bytes(), kIdentity, 0);
  std::optional<TreeWriter> writer{std::in_place, *heap, keys};
  VisibleKeys model;
  std::uint64_t now_ms = 0;

  void publish() {
    writer->save();
    REQUIRE(heap->publish(++now_ms));
  }
  void put(std::size_t key) {
    if (!writer->put(key)) {
      publish();
      reclaim();
      if (!writer->put(key)) return;
    }
    model.insert(key);
  }
  void erase(std::size_t key) {
    if (writer->erase(key)) model.erase(key);
  }
  // All that was deleted leaves the tree.
  void reclaim() {
    publish();
    for (now_ms += 2 * kRetiredMs; writer->reclaim(now_ms);) publish();
  }
  void check(Prng& prng) {
    publish();
    std::optional<std::uint64_t> number;
    CHECK(read_newest_tree(memory->bytes(), kIdentity, keys, prng(), number) == to_text(model));
    CHECK(check_tree_books(*heap, memory->bytes()) == "");
  }
  TreeRoot root() const { return heap->published().user_as<TreeScalars>().tree; }
};

TEST_CASE("a tree has the keys that a set has") {
  for (const std::uint64_t seed : testing::seeds(60)) {
    INFO("seed " << seed);
    Prng prng(seed);
    Fixture of(draw_keys(prng, 1 + prng.below(4000), 1 + prng.below(prng.chance(0.3) ? 4096 : 40)));
    const double puts = 0.3 + 0.6 * prng.unit();
    for (std::uint64_t left = prng.below(12'000); left > 0; --left) {
      const std::size_t key = prng.below(of.keys.size());
      prng.chance(puts) ? of.put(key) : of.erase(key);
      if (prng.chance(0.002)) of.check(prng);
      if (prng.chance(0.01)) of.reclaim();
    }
    of.check(prng);
    while (!of.model.empty()) of.erase(*of.model.begin()), of.heap->words_left() < 200 ? of.publish() : void();
    of.reclaim();
    of.check(prng);
    CHECK(of.root() == TreeRoot{.longest_key = of.root().longest_key});
  }
}

TEST_CASE("ascending keys fill the leaves") {
  std::vector<std::string> keys;
  for (int i = 100'000; i < 130'000; ++i) keys.push_back("key/" + std::to_string(i));
  Fixture of(keys);
  const std::uint64_t before = of.heap->scalars().bytes_used;
  for (std::size_t key = 0; key < keys.size(); ++key) of.put(key);
  of.reclaim();
  Prng prng(1);
  of.check(prng);
  CHECK(of.root().levels == 3);
  // 48 bytes of the key node, 256 / 29 of its leaf, and for each leaf 12 bytes in its parent and a separator.
  const double bytes = static_cast<double>(of.heap->scalars().bytes_used - before) / static_cast<double>(keys.size());
  CHECK(bytes < 48 + 256.0 / 29 + (12 + 48) / 28.0 + 0.5);
}

TEST_CASE("random keys fill two thirds of the leaves") {
  Prng prng(testing::drawn_seed());
  std::set<std::string> drawn;
  while (drawn.size() < 30'000) drawn.insert(std::to_string(prng()));
  Fixture of({drawn.begin(), drawn.end()});
  std::vector<std::size_t> order(drawn.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[prng.below(i)]);
  for (const std::size_t key : order) of.put(key);
  of.check(prng);
  Reached reached;
  REQUIRE(check_tree(of.heap->nodes(), of.root(), reached) == "");
  const double leaves = static_cast<double>(reached.nodes.size() - order.size()) / 2;  // each with a separator
  const double filled = static_cast<double>(order.size()) / leaves / static_cast<double>(kLeafEntries);
  CHECK(filled > 0.60);
  CHECK(filled < 0.75);
}

TEST_CASE("keys in one batch cost no more nodes than the tree keeps") {
  std::vector<std::string> keys;
  for (int i = 1000; i < 3000; ++i) keys.push_back(std::to_string(i));
  Fixture of(keys);
  for (std::size_t key = 0; key < 1000; ++key) of.put(key);
  of.publish();
  const std::uint64_t retired = of.heap->retire_queue().size();
  for (std::size_t key = 1000; key < 1100; ++key) of.put(key);
  of.publish();
  // Three or four leaves were full, and the root above them was copied once.
  CHECK(of.heap->retire_queue().size() - retired <= 5);
}

TEST_CASE("an empty tree has nothing in any direction") {
  Fixture of({"a"});
  TreeCursor cursor = of.writer->tree().cursor();
  for (const TreeStep step : {cursor.seek(""), cursor.next(), cursor.previous(), cursor.seek_last(),
                              cursor.seek_before("b")}) {
    CHECK(step == TreeStep::kEnd);
  }
}

TEST_CASE("a key that is not there is damage when it is erased") {
  Fixture of({"a", "b"});
  of.put(0);
  const auto other = add_key(*of.heap, "b", {});
  CHECK_FALSE(of.writer->tree().erase("b", *other));
  CHECK(of.heap->status().message().find("not in the ordered tree") != std::string::npos);
}

TEST_CASE("a key that is put twice is damage when its leaf is split") {
  Fixture of({"a"});
  bool held = true;
  for (std::size_t i = 0; i <= kLeafEntries && held; ++i) {
    held = of.writer->tree().insert("a", *add_key(*of.heap, "a", {}));
  }
  CHECK_FALSE(held);
  CHECK(of.heap->status().message().find("twice") != std::string::npos);
}

TEST_CASE("a full heap keeps an empty leaf, and fills it later") {
  std::vector<std::string> keys;
  for (int i = 10'000; i < 10'400; ++i) keys.push_back(std::to_string(i));
  Fixture of(keys);
  for (std::size_t key = 0; key < keys.size(); ++key) of.put(key);
  of.reclaim();
  for (std::size_t key = 50; key < 350; ++key) of.erase(key);
  std::vector<HeapRef> ballast;
  while (of.heap->has_room(kHeapNodeBytesMax)) ballast.push_back(*of.heap->allocate(kHeapNodeBytesMax));
  for (const HeapRef ref : ballast) of.heap->write(ref, {}, std::array<std::uint64_t, 1>{});
  of.reclaim();
  TreeCursor cursor = of.writer->tree().cursor();
  CHECK(cursor.seek(keys[60]) == TreeStep::kKey);
  CHECK(key_at(of.heap->nodes(), cursor.key()) == keys[350]);
  CHECK(cursor.previous() == TreeStep::kKey);
  CHECK(key_at(of.heap->nodes(), cursor.key()) == keys[49]);
  for (const HeapRef ref : ballast) of.heap->retire(ref);
  of.reclaim();
  for (std::size_t key = 50; key < 350; ++key) of.put(key);
  Prng prng(3);
  of.check(prng);
}

}  // namespace
}  // namespace ingot::test
