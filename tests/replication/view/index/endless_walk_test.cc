// Damaged memory once was walked for ever: each walk over what leads on ends, and says what is wrong. All that is
// written here checks, as if the writer had a bug: flipped bits never come so far.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replication/view/heap/memory.h"
#include "replication/view/index/kinds.h"
#include "replication/view/index/store_reader.h"
#include "replication/view/index/tree_edit.h"
#include "replication/view/index/versioned_store.h"
#include "tests/replication/view/heap/killed_run.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kExtents = 80;
constexpr std::size_t kBytes = first_extent_offset(kExtents) + kExtents * kExtentBytes;
constexpr std::size_t kReferences = 5;  // the word of a version's content with the previous one and the key

struct Memory {
  std::unique_ptr<HeapMemory> memory = *private_heap_memory(kBytes);
  Chain chain{memory->bytes()};
  std::unique_ptr<Heap> heap = *Heap::create(memory->bytes(), kIdentity, 0);

  std::uint64_t word(HeapRef ref, std::size_t index) const { return chain.load(content_offset(ref, index)); }

  // Changes a word of a node of that many words of content, and the node's check with it.
  void rewrite(HeapRef ref, std::size_t content_words, std::size_t index, std::uint64_t value) {
    chain.store(content_offset(ref, index), value);
    std::vector<std::uint64_t> node(kNodeHeaderWords + content_words);
    chain.load_words(offset_of(ref), node);
    chain.store(offset_of(ref), (node[0] & ~std::uint64_t{0xffffffff}) | node_check(ref, node, {}));
  }
  void rewrite_word(std::uint64_t offset, std::uint64_t content) { chain.store(offset, checked_word(offset, content)); }

  std::string found() const { return std::string(heap->status().message()); }
};

// The versions of one key, at revisions from 2 on; their values are one word.
struct OneKey : Memory {
  VersionedStore store{*heap};
  std::vector<HeapRef> versions;

  explicit OneKey(std::size_t count) {
    for (StoreRevision revision = 2; versions.size() < count; ++revision) {
      REQUIRE(store.put("key", "value", {revision, 0}));
      versions.push_back(RevisionLog::at(heap->nodes(), store.root().log, store.root().log.end - 1)->version);
    }
    REQUIRE(store.publish(1));
  }

  void lead_previous(std::size_t from, std::size_t to) {
    const std::size_t words = kReferences + 2 + (from > 0 && from % kJumpEvery == 0 ? 2 : 0);
    const std::uint64_t key = word(versions[from], kReferences) & ~std::uint64_t{0xffffffff};
    rewrite(versions[from], words, kReferences, key | versions[to].value());
  }
  void lead_jump(std::size_t from, std::size_t to, StoreRevision revision) {
    const std::size_t words = kReferences + 2 + 2;
    rewrite(versions[from], words, kReferences + 1, static_cast<std::uint64_t>(revision));
    const std::uint64_t distance = word(versions[from], kReferences + 2) & ~std::uint64_t{0xffffffff};
    rewrite(versions[from], words, kReferences + 2, distance | versions[to].value());
  }

  void check_reads_at(StoreRevision revision) {
    auto reader = *StoreReader::open(memory->bytes(), kIdentity);
    REQUIRE(reader.begin());
    StoredVersion stored;
    CHECK(reader.get("key", revision, stored) == StoreAnswer::kDamaged);
    VersionNode version;
    CHECK(store.get("key", revision, version) == VersionFound::kGarbage);
    CHECK(found().find("not earlier") != std::string::npos);
  }
};

TEST_CASE("a version whose predecessor leads back to itself or to a newer one was walked for ever by the next jump") {
  const std::size_t to = GENERATE(5, 6, 14, 15);
  OneKey key(kJumpEvery);
  key.lead_previous(5, to);
  CHECK_FALSE(key.store.put("key", "value", {100, 0}));
  CHECK(key.found().find("a version leads to one that is not earlier") != std::string::npos);
  CHECK_FALSE(key.store.publish(2));
}

TEST_CASE("a version whose predecessor is another key's, which has the same depth, is found") {
  OneKey key(kJumpEvery - 1);
  for (StoreRevision revision = 50; revision < 55; ++revision) {
    REQUIRE(key.store.put("other", "value", {revision, 0}));
  }
  const auto other = RevisionLog::at(key.heap->nodes(), key.store.root().log, key.store.root().log.end - 1);
  REQUIRE(key.store.put("key", "value", {60, 0}));
  key.versions[4] = other->version;
  key.lead_previous(5, 4);
  CHECK_FALSE(key.store.put("key", "value", {100, 0}));
  CHECK(key.found().find("not earlier") != std::string::npos);
}

TEST_CASE("a read at an old revision was walked for ever by a version that leads back") {
  const std::size_t to = GENERATE(5, 6, 14, 15);
  OneKey key(kJumpEvery);
  key.lead_previous(5, to);
  key.check_reads_at(4);
}

TEST_CASE("a jump that leads back to itself or to a newer version is found by reads and by the next jump") {
  const std::size_t to = GENERATE(std::size_t{2 * kJumpEvery}, std::size_t{2 * kJumpEvery + 3});
  OneKey key(3 * kJumpEvery);
  const StoreRevision revision = static_cast<StoreRevision>(to) + 2;
  key.lead_jump(2 * kJumpEvery, to, revision);
  SECTION("a read") { key.check_reads_at(4); }
  SECTION("the next jump") {
    CHECK_FALSE(key.store.put("key", "value", {100, 0}));
    CHECK(key.found().find("not earlier") != std::string::npos);
  }
}

TEST_CASE("events that lead back in the log are found") {
  OneKey key(20);
  const HeapRef chunk = *Directory::at(key.heap->nodes(), key.store.root().log.chunks, 0);
  constexpr std::size_t kFields = 5;  // of a chunk, before its entries
  const std::uint64_t early = key.word(chunk, kFields + 3) & kContentMask;
  key.rewrite_word(content_offset(chunk, kFields + 12), early);
  std::size_t seen = 0;
  CHECK_FALSE(key.store.view().events(2, [&](const StoreEvent&) { return ++seen < 1000; }));
  CHECK(seen == 12);
  CHECK(key.found().find("changes in the log are not in order") != std::string::npos);
}

// ---- Buckets -------------------------------------------------------------------------------------------------------

// Keys that stay in the first bucket as long as there are at most 64.
std::vector<std::string> keys_of_one_bucket(std::size_t count) {
  std::vector<std::string> keys;
  for (int i = 0; keys.size() < count; ++i) {
    if (key_hash(std::to_string(i)) % 64 == 0) keys.push_back(std::to_string(i));
  }
  return keys;
}

TEST_CASE("a bucket that leads back to itself or to the one before it ends each walk") {
  const bool itself = GENERATE(true, false);
  Memory memory;
  VersionedStore store(*memory.heap);
  const auto keys = keys_of_one_bucket(45);
  StoreRevision revision = 1;
  for (std::size_t i = 0; i < 40; ++i) REQUIRE(store.put(keys[i], "", {++revision, 0}));
  std::vector<HeapRef> behind;
  REQUIRE(HashIndex::for_each_node(
      memory.heap->nodes(), store.root().hash,
      [&](HeapRef ref) {
        if (kind_of(memory.chain.load(offset_of(ref))).kind == static_cast<std::uint8_t>(IndexNode::kOverflow)) {
          behind.push_back(ref);
        }
      },
      [](HeapRef, std::uint64_t) {}));
  REQUIRE(behind.size() == 5);
  memory.rewrite_word(content_offset(behind[4], kBucketKeys), behind[itself ? 4 : 3].value());
  REQUIRE(store.publish(1));
  CHECK_FALSE(HashIndex::for_each_node(memory.heap->nodes(), store.root().hash, [](HeapRef) {},
                                       [](HeapRef, std::uint64_t) {}));
  auto reader = *StoreReader::open(memory.memory->bytes(), kIdentity);
  REQUIRE(reader.begin());
  StoredVersion stored;
  CHECK(reader.get(keys[44], revision, stored) == StoreAnswer::kNone);  // the tree says so
  CHECK_FALSE(store.put(keys[44], "", {++revision, 0}));
  CHECK(memory.found().find("a bucket leads back to itself") != std::string::npos);
}

TEST_CASE("a store whose keys had gone took the buckets that they left behind for damage") {
  Memory memory;
  VersionedStore store(*memory.heap);
  const auto keys = keys_of_one_bucket(45);
  StoreRevision revision = 1;
  for (const std::string& key : keys) REQUIRE(store.put(key, "", {++revision, 0}));
  for (const std::string& key : keys) REQUIRE(store.erase(key, {++revision, 0}));
  REQUIRE(store.publish(1));
  REQUIRE(store.compact(revision));
  while (store.free_some(100)) {
  }
  REQUIRE(store.publish(2));
  for (std::uint64_t now_ms = 100; store.reclaim(now_ms) > 0; now_ms += 100) REQUIRE(store.publish(now_ms));
  CHECK(store.root().hash.keys == 0);
  CHECK(store.put(keys[0], "", {++revision, 0}));
  CHECK(memory.found() == "");
}

// ---- Others --------------------------------------------------------------------------------------------------------

TEST_CASE("an ordered tree whose nodes all lead to the same child ends each walk") {
  Memory memory;
  constexpr std::size_t kLevels = 9;
  HeapRef node = *memory.heap->add(kTreeLeafKind, std::array<std::uint64_t, kLeafContentWords>{}, kLeafWords);
  for (std::size_t level = 1; level < kLevels; ++level) {
    std::array<std::uint64_t, inner_content_words(kInnerChildrenMax)> content{};
    content[0] = std::uint64_t{kInnerChildrenMax} << 32;
    std::fill_n(content.begin() + 1, kInnerChildrenMax / 2, node.value() | std::uint64_t{node.value()} << 32);
    node = *memory.heap->add(tree_inner_kind(level), content);
  }
  TreeCursor cursor(memory.heap->nodes(), {.node = node.value(), .levels = kLevels, .keys = 1, .longest_key = 1});
  TreeStep step = cursor.seek_last();
  while (step == TreeStep::kPaused) step = cursor.previous();
  CHECK(step == TreeStep::kGarbage);
  CHECK(memory.found().find("an ordered tree that does not end") != std::string::npos);
}

TEST_CASE("a range over a tree whose leaf comes twice says so") {
  Memory memory;
  VersionedStore store(*memory.heap);
  for (int i = 100; i < 400; ++i) REQUIRE(store.put(std::to_string(i), "", {i, 0}));
  const HeapRef top(static_cast<std::uint32_t>(store.root().tree.node));
  TreeNode inner;
  REQUIRE(inner.read(memory.heap->nodes(), top, 1));
  const std::uint64_t first = inner.child(0).value();
  memory.rewrite(top, inner_content_words(inner.children()), 1, first | first << 32);
  std::size_t seen = 0;
  CHECK_FALSE(store.view().range("", std::nullopt, 1000, [&](std::string_view, const VersionNode&) {
    return ++seen < 1000;
  }));
  CHECK(seen > 0);
  CHECK(memory.found().find("keys of the ordered tree are not in order") != std::string::npos);
}

TEST_CASE("a chunk of the retire queue that leads back to itself ends the walk over all") {
  Memory memory;
  for (std::size_t i = 0; i < 3 * kRetireChunkEntries; ++i) {
    memory.heap->retire(*memory.heap->add({.kind = 1}, std::array<std::uint64_t, 1>{}));
  }
  const HeapRef first(static_cast<std::uint32_t>(memory.heap->scalars().retire_first));
  std::size_t chunks = 0;
  memory.heap->retire_queue().for_each_chunk([&](HeapRef) { ++chunks; });
  CHECK(chunks == 3);
  memory.rewrite_word(content_offset(first), first.value());
  memory.heap->retire_queue().for_each_chunk([&](HeapRef) { ++chunks; });
  CHECK(memory.found().find("the retire queue leads back to itself") != std::string::npos);
}

TEST_CASE("a directory whose root names more entries than nodes can have once was counted for ever") {
  Memory memory;
  CHECK_FALSE(Directory::at(memory.heap->nodes(), {.top = 0, .count = ~std::uint64_t{0}}, 5));
  CHECK(memory.found() != "");
}

}  // namespace
}  // namespace ingot::test
