#include "tests/replication/view/index/tree_patches.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/check.h"
#include "replication/view/heap/memory.h"
#include "replication/view/index/pieces.h"
#include "tests/replication/view/index/tree_store.h"

namespace ingot::test {
namespace {

constexpr HeapIdentity kIdentity{.replica = 4, .chain_id = 9};
constexpr std::uint64_t kExtents = 80;
constexpr std::size_t kBytes = first_extent_offset(kExtents) + kExtents * kExtentBytes;
constexpr std::size_t kPatchBytes = 12;

struct LeftTree {
  std::unique_ptr<HeapMemory> memory = *private_heap_memory(kBytes);
  std::vector<std::string> keys;
  std::vector<HeapRef> nodes;  // that the last root reaches
  std::size_t bytes = 0;       // in which anything lies

  LeftTree() {
    Prng prng(7);
    for (int i = 0; i < 2500; ++i) keys.push_back(std::to_string(mix(i, 1) % 100'000));
    for (int i = 0; i < 300; ++i) keys.push_back("prefix/" + std::string(prng.below(40), 'p') + std::to_string(i));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    auto heap = *Heap::create(memory->bytes(), kIdentity, 0);
    TreeWriter writer(*heap, keys);
    std::uint64_t now_ms = 0;
    const auto publish = [&] {
      writer.save();
      INGOT_CHECK(heap->publish(now_ms += 7));
    };
    for (std::uint64_t i = 0; i < 6000; ++i) {
      const std::size_t key = prng.below(keys.size());
      prng.chance(0.75) ? writer.put(key) : writer.erase(key);
      if (i % 20 == 19) publish();
      if (i % 100 == 99 && writer.reclaim(now_ms)) publish();
    }
    Reached reached;
    INGOT_CHECK(check_tree(heap->nodes(), heap->published().user_as<TreeScalars>().tree, reached).empty());
    for (const std::uint32_t ref : reached.nodes) nodes.push_back(HeapRef(ref));
    for (std::size_t key = 0; key < 10; ++key) writer.put(prng.below(keys.size()));
    bytes = first_extent_offset(kExtents) + heap->scalars().extents_begun * kExtentBytes;
  }
};

// Of a node as it is: its content's words and those that change in place; nothing: no node is like that.
struct NodeShape {
  std::size_t words;
  NodeWords in_place;
};
std::optional<NodeShape> shape_of(Chain chain, HeapRef ref) {
  const auto kind = static_cast<IndexNode>(kind_of(chain.load(offset_of(ref))).kind);
  if (kind == IndexNode::kLeaf) return NodeShape{kLeafContentWords, kLeafWords};
  if (kind == IndexNode::kInner) {
    const std::uint64_t children = chain.load(content_offset(ref)) >> 32;
    if (children == 0 || children > kInnerChildrenMax) return std::nullopt;
    return NodeShape{inner_content_words(children), {}};
  }
  const std::uint64_t key_bytes = chain.load(content_offset(ref, 1)) >> 32;
  if (kind != IndexNode::kKey || key_bytes > kKeyBytesInNode) return std::nullopt;
  return NodeShape{2 + words_for(key_bytes), {.first = 0, .count = 1}};
}

void seal(Chain chain, HeapRef ref) {
  const auto shape = shape_of(chain, ref);
  if (!shape || !chain.holds(offset_of(ref), kNodeHeaderWords + shape->words)) return;
  std::vector<std::uint64_t> node(kNodeHeaderWords + shape->words);
  chain.load_words(offset_of(ref), node);
  for (std::size_t i = 0; i < shape->in_place.count; ++i) {
    const std::uint64_t at = content_offset(ref, shape->in_place.first + i);
    chain.store(at, checked_word(at, chain.load(at) & kContentMask));
  }
  chain.store(offset_of(ref), (node[0] & ~std::uint64_t{0xffffffff}) | node_check(ref, node, shape->in_place));
}

// A flipped bit, a word of another node, a number below or above what is there, or any word.
std::uint64_t patched(const LeftTree& left, Chain chain, std::uint64_t word, std::uint64_t value) {
  if ((value & (value - 1)) == 0) return word ^ value;
  if (value % 4 == 0) {
    const HeapRef other = left.nodes[value / 4 % left.nodes.size()];
    return chain.load(offset_of(other) + value / 8 % 6 * kWordBytes);
  }
  if (value % 4 == 1) return (word & ~std::uint64_t{0xffffffff}) | left.nodes[value / 4 % left.nodes.size()].value();
  if (value % 4 == 2) return word + (std::uint64_t{1} << value / 4 % 64) * (value >> 60);
  return value;
}

void patch(const LeftTree& left, Chain chain, std::string_view patches) {
  for (; patches.size() >= kPatchBytes; patches.remove_prefix(kPatchBytes)) {
    std::uint32_t place;
    std::uint64_t value;
    std::memcpy(&place, patches.data(), sizeof place);
    std::memcpy(&value, patches.data() + sizeof place, sizeof value);
    const HeapRef node = left.nodes[place % left.nodes.size()];
    const auto shape = shape_of(chain, node);
    const std::size_t words = kNodeHeaderWords + (shape ? shape->words : 1);
    const std::uint64_t at = offset_of(node) + place / left.nodes.size() % words * kWordBytes;
    chain.store(at, patched(left, chain, chain.load(at), value));
    seal(chain, node);
  }
}

}  // namespace

std::string run_tree_patches(std::string_view patches) {
  static const LeftTree left;
  static const std::unique_ptr<HeapMemory> memory = *private_heap_memory(kBytes);
  INGOT_CHECK(memory->punch(left.bytes, kBytes - left.bytes));
  std::memcpy(memory->bytes().data(), left.memory->bytes().data(), left.bytes);
  patch(left, Chain(memory->bytes()), patches);

  std::optional<std::uint64_t> number;
  static_cast<void>(read_newest_tree(memory->bytes(), kIdentity, left.keys, patches.size(), number));
  auto heap = Heap::adopt(memory->bytes(), kIdentity, 0);
  INGOT_CHECK(heap.ok());
  Prng prng(9);
  TreeWriter writer(**heap, left.keys);
  for (std::uint64_t now_ms = 100; now_ms < 400; now_ms += 10) {
    if (now_ms % 40 != 0 || !writer.reclaim(now_ms)) {
      for (int i = 0; i < 20; ++i) {
        const std::size_t key = prng.below(left.keys.size());
        prng.chance(0.5) ? writer.put(key) : writer.erase(key);
      }
    }
    writer.save();
    if (!(*heap)->publish(now_ms)) return "damage";
  }
  const std::string text = read_newest_tree(memory->bytes(), kIdentity, left.keys, patches.size(), number);
  return text.starts_with("keys") ? text : "garbage";
}

std::string sample_tree_patches(Prng& prng) {
  std::string patches;
  for (std::uint64_t left = 1 + prng.below(4); left > 0; --left) {
    const auto place = static_cast<std::uint32_t>(prng());
    const std::uint64_t value = prng.chance(0.3) ? std::uint64_t{1} << prng.below(64) : prng();
    patches.append(reinterpret_cast<const char*>(&place), sizeof place);
    patches.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return patches;
}

}  // namespace ingot::test
