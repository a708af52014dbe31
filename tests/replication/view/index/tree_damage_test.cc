// Damaged memory under an ordered tree: a flipped bit is never served, and no bytes lead to a crash or an endless walk.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/memory.h"
#include "tests/replication/view/index/tree_patches.h"
#include "tests/replication/view/index/tree_store.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

constexpr HeapIdentity kIdentity{.replica = 1, .chain_id = 5};
constexpr std::size_t kBytes = first_extent_offset(80) + 80 * kExtentBytes;

TEST_CASE("each flipped bit of a tree's node is found") {
  Prng prng(testing::drawn_seed());
  auto memory = *private_heap_memory(kBytes);
  auto heap = *Heap::create(memory->bytes(), kIdentity, 0);
  std::vector<std::string> keys;
  for (int i = 100; i < 1000; ++i) keys.push_back("some/" + std::to_string(i));
  TreeWriter writer(*heap, keys);
  for (std::size_t i = 0; i < 900; ++i) writer.put(prng.below(keys.size()));
  writer.save();
  REQUIRE(heap->publish(0));
  const TreeRoot tree = heap->published().user_as<TreeScalars>().tree;
  REQUIRE(tree.levels == 2);

  const auto reader = *HeapReader::open(memory->bytes(), kIdentity);
  Chain chain(memory->bytes());
  const auto flip_all = [&](HeapRef ref, std::size_t level, std::size_t words) {
    TreeNode node;
    REQUIRE(node.read(reader.nodes(), ref, level));
    for (std::uint64_t at = offset_of(ref); at < offset_of(ref) + words * kWordBytes; at += kWordBytes) {
      const std::uint64_t word = chain.load(at);
      for (int bit = 0; bit < 64; ++bit) {
        chain.store(at, word ^ std::uint64_t{1} << bit);
        const bool whole = node.read(reader.nodes(), ref, level) && (level > 0 || node.entries_fit(reader.nodes()));
        REQUIRE_FALSE(whole);
      }
      chain.store(at, word);
    }
  };
  const HeapRef top(static_cast<std::uint32_t>(tree.node));
  TreeNode inner;
  REQUIRE(inner.read(reader.nodes(), top, 1));
  flip_all(top, 1, kNodeHeaderWords + inner_content_words(inner.children()));
  for (std::size_t i = 0; i < inner.children(); ++i) {
    flip_all(inner.child(i), 0, kNodeHeaderWords + kLeafContentWords);
    TreeNode leaf;
    CHECK_FALSE(leaf.read(reader.nodes(), HeapRef(inner.child(i).value() + 1), 0));
    CHECK_FALSE(leaf.read(reader.nodes(), inner.child(i), 1));
  }
  CHECK_FALSE(inner.read(reader.nodes(), top, 2));
  CHECK_FALSE(inner.read(reader.nodes(), top, 0));
}

TEST_CASE("patched nodes of a tree are found, or their walks end") {
  Prng prng(testing::drawn_seed());
  std::map<std::string, int> outcomes;
  for (int i = 0; i < 1500; ++i) {
    const std::string outcome = run_tree_patches(sample_tree_patches(prng));
    ++outcomes[outcome.starts_with("keys") ? "keys" : outcome];
  }
  CHECK(outcomes["damage"] > 100);
  CHECK(outcomes["garbage"] > 30);
  CHECK(outcomes["keys"] > 30);
}

}  // namespace
}  // namespace ingot::test
