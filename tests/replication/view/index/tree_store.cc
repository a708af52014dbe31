#include "tests/replication/view/index/tree_store.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "replication/view/index/key_node.h"
#include "replication/view/index/pieces.h"

namespace ingot::test {
namespace {

std::string draw_bytes(Prng& prng, std::size_t bytes) {
  std::string text(bytes, '\0');
  constexpr unsigned char kFew[] = {0, 1, 'a', 254, 255};
  const bool few = prng.chance(0.5);
  for (char& byte : text) byte = static_cast<char>(few ? kFew[prng.below(5)] : prng.below(256));
  return text;
}

std::string number_text(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(8 - digits.size(), '0') + digits;
}

class KeyShape {
 public:
  KeyShape(Prng& prng, std::size_t bytes_max)
      : prng_(prng), bytes_max_(bytes_max), shape_(prng.below(7)), prefix_(draw_bytes(prng, draw_size())) {}

  std::string draw(std::size_t i) {
    switch (shape_ == 6 ? prng_.below(6) : shape_) {
      case 0: return "/registry/pods/default/" + number_text(i);
      case 1: return (prefix_ + number_text(i)).substr(0, bytes_max_);
      case 2: return std::string(1 + i % bytes_max_, prng_.chance(0.9) ? '\0' : 'a');
      case 3: return draw_bytes(prng_, draw_size());
      case 4: return draw_bytes(prng_, 1 + prng_.below(2));
      default: return prefix_.substr(0, prng_.below(prefix_.size() + 1)) + draw_bytes(prng_, 1 + prng_.below(8));
    }
  }

 private:
  std::size_t draw_size() {
    const std::size_t most = prng_.chance(0.1) ? bytes_max_ : std::min<std::size_t>(bytes_max_, 24);
    return 1 + prng_.below(most);
  }

  Prng& prng_;
  const std::size_t bytes_max_;
  const std::uint64_t shape_;
  const std::string prefix_;
};

// Walks in one direction; nothing: garbage, which is in `wrong`.
std::optional<std::vector<HeapRef>> walk(TreeCursor& cursor, TreeStep step, TreeStep (TreeCursor::*on)(),
                                         std::size_t steps_max, std::string& wrong) {
  std::vector<HeapRef> found;
  for (std::size_t steps = 0; steps <= steps_max; ++steps, step = (cursor.*on)()) {
    if (step == TreeStep::kEnd) return found;
    if (step == TreeStep::kKey) found.push_back(cursor.key());
    if (step == TreeStep::kGarbage) break;
  }
  wrong = step == TreeStep::kGarbage ? "garbage in the tree" : "a walk does not end";
  return std::nullopt;
}

// Of those key nodes, in their order: the indices of the visible ones. Not all bytes of a reader's key may be there.
std::optional<std::vector<std::size_t>> visible_of(const NodeSource& nodes, const std::vector<HeapRef>& refs,
                                                   std::uint64_t revision, const std::vector<std::string>& keys,
                                                   std::string& wrong) {
  std::vector<std::size_t> found;
  for (const HeapRef ref : refs) {
    const auto life = nodes.content(key_head_word(ref));
    const auto key = key_at(nodes, ref);
    if (!life || !key) {
      wrong = "a garbled key";
      return std::nullopt;
    }
    if (!KeyLife::from(*life).visible(revision)) continue;
    const auto at = std::lower_bound(keys.begin(), keys.end(), *key);
    if (at == keys.end() || *at != *key) {
      wrong = "a key that was never put";
      return std::nullopt;
    }
    found.push_back(static_cast<std::size_t>(at - keys.begin()));
  }
  return found;
}

std::string joined(const std::vector<std::size_t>& keys) {
  std::string text = "keys";
  for (const std::size_t key : keys) text += " " + std::to_string(key);
  return text;
}

}  // namespace

std::vector<std::string> draw_keys(Prng& prng, std::size_t count, std::size_t bytes_max) {
  KeyShape shape(prng, bytes_max);
  std::set<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.insert(shape.draw(i));
  return {keys.begin(), keys.end()};
}

std::string to_text(const VisibleKeys& keys) { return joined({keys.begin(), keys.end()}); }

// ---- Reading -------------------------------------------------------------------------------------------------------

std::string read_tree(const NodeSource& nodes, const TreeScalars& root, const std::vector<std::string>& keys,
                      std::uint64_t seed) {
  Prng prng(seed);
  std::string wrong;
  TreeCursor cursor(nodes, root.tree);
  const auto visible = [&](TreeStep first, TreeStep (TreeCursor::*on)()) {
    const auto refs = walk(cursor, first, on, 2 * keys.size(), wrong);
    return refs ? visible_of(nodes, *refs, root.revision, keys, wrong) : std::nullopt;
  };
  const auto all = visible(cursor.seek(""), &TreeCursor::next);
  if (!all) return wrong;
  auto back = visible(cursor.seek_last(), &TreeCursor::previous);
  if (!back) return wrong;
  std::reverse(back->begin(), back->end());
  if (*back != *all) return "backwards " + joined(*back) + " for " + joined(*all);
  const std::size_t middle = prng.below(keys.size());
  std::string from = keys[middle];  // a key, the least one behind it, or a prefix of it
  if (prng.chance(0.3)) from += '\0';
  if (prng.chance(0.2)) from.resize(prng.below(from.size() + 1));
  const auto behind = visible(cursor.seek(from), &TreeCursor::next);
  if (!behind) return wrong;
  auto whole = visible(cursor.seek_before(from), &TreeCursor::previous);
  if (!whole) return wrong;
  for (const std::size_t key : *whole) {
    if (keys[key] >= from) return "a key that is not before";
  }
  for (const std::size_t key : *behind) {
    if (keys[key] < from) return "a key that is before";
  }
  std::reverse(whole->begin(), whole->end());
  whole->insert(whole->end(), behind->begin(), behind->end());
  return *whole == *all ? joined(*all) : "in two parts " + joined(*whole) + " for " + joined(*all);
}

std::string read_newest_tree(std::span<const std::byte> memory, const HeapIdentity& identity,
                             const std::vector<std::string>& keys, std::uint64_t seed,
                             std::optional<std::uint64_t>& number) {
  auto reader = HeapReader::open(memory, identity);
  if (!reader.ok()) return "";
  const auto root = reader->begin();
  if (!root || root->heap.user_words == 0) return "";
  number = root->heap.number;
  const std::string text = read_tree(reader->nodes(), root->user_as<TreeScalars>(), keys, seed);
  return reader->counts() ? text : "";
}

// ---- The writer ----------------------------------------------------------------------------------------------------

TreeWriter::TreeWriter(Heap& heap, const std::vector<std::string>& keys)
    : heap_(heap), keys_(keys), scalars_(heap.user<TreeScalars>()), tree_(heap, scalars_.tree) {
  TreeCursor cursor = tree_.cursor();
  for (TreeStep step = cursor.seek(""); step != TreeStep::kEnd; step = cursor.next()) {
    if (step == TreeStep::kGarbage) return;
    if (step == TreeStep::kPaused) continue;
    const auto key = key_at(heap.nodes(), cursor.key());
    const auto at = std::lower_bound(keys.begin(), keys.end(), key.value_or(""));
    if (at != keys.end() && *at == key) nodes_[static_cast<std::size_t>(at - keys.begin())] = cursor.key();
  }
}

bool TreeWriter::put(std::size_t key) {
  const std::string& bytes = keys_[key];
  if (nodes_.contains(key) || !heap_.status().ok()) return false;
  const std::uint64_t room = key_room(bytes.size()) + tree_.room(bytes.size());
  if (!heap_.has_room(room) || heap_.words_left() < 100 + tree_.words(bytes.size())) return false;
  const KeyLife life{.put = static_cast<std::uint32_t>(++scalars_.revision)};
  const auto node = add_key(heap_, bytes, KeyHead::from(life.content()));
  if (!node || !tree_.insert(bytes, *node)) return false;
  nodes_[key] = *node;
  return true;
}

// First stage: the key is deleted, and waits in the queue.
bool TreeWriter::erase(std::size_t key) {
  const auto found = nodes_.find(key);
  if (found == nodes_.end() || !heap_.status().ok() || heap_.words_left() < 100) return false;
  KeyLife life = KeyLife::from(heap_.content(key_head_word(found->second)));
  if (life.deleted != 0) return false;
  life.deleted = static_cast<std::uint32_t>(++scalars_.revision);
  heap_.set(key_head_word(found->second), life.content());
  heap_.retire(found->second, kUnlinkKey);
  return true;
}

bool TreeWriter::reclaim(std::uint64_t now_ms) {
  return heap_.reclaim(now_ms, [this](const Retired& retired) { unlink(retired); }) != 0;
}

void TreeWriter::unlink(const Retired& retired) {
  KeyNode node;
  std::string scratch;
  if (!node.read(heap_.nodes(), retired.ref)) return;
  const auto key = node.key(heap_.nodes(), scratch);
  if (!key || !tree_.erase(*key, retired.ref)) return;
  const auto at = std::lower_bound(keys_.begin(), keys_.end(), *key);
  nodes_.erase(static_cast<std::size_t>(at - keys_.begin()));
  node.retire(heap_, retired.ref);
}

VisibleKeys TreeWriter::visible() const {
  VisibleKeys keys;
  for (const auto& [key, node] : nodes_) {
    if (KeyLife::from(heap_.content(key_head_word(node))).deleted == 0) keys.insert(key);
  }
  return keys;
}

// ---- The books -----------------------------------------------------------------------------------------------------

namespace {

struct TreeCheck {
  NodeSource nodes;
  Reached& reached;
  std::uint64_t keys = 0;
  std::string wrong = "";

  void expect(bool holds, const char* what) {
    if (!holds && wrong.empty()) wrong = what;
  }

  // Nothing: there is no such key.
  std::optional<std::string> key(HeapRef ref) {
    KeyNode node;
    std::string scratch;
    const auto bytes = node.read(nodes, ref) ? node.key(nodes, scratch) : std::nullopt;
    expect(bytes.has_value(), "a key is none");
    if (!bytes) return std::nullopt;
    reach(ref);
    const std::size_t pieces = node.is_long() ? pieces_for(bytes->size() - kKeyBytesInNode) : 0;
    for (std::size_t i = 0; i < pieces; ++i) {
      constexpr std::size_t kFirst = 2 + words_for(kKeyBytesInNode);  // word of the content, as key_node.h says
      reach(HeapRef(static_cast<std::uint32_t>(*nodes.peek(ref, kFirst + i / 2) >> i % 2 * 32)));
    }
    return std::string(*bytes);
  }
  void reach(HeapRef ref) { reached.add(ref, "a node is reached twice"); }

  void leaf(const TreeNode& node, const std::optional<std::string>& low, const std::optional<std::string>& high) {
    expect(node.leaf_prefix_bytes() == (low && high ? prefix_of(*low, *high) : 0), "a leaf's prefix is wrong");
    expect(node.entries_fit(nodes), "an entry does not check");
    for (std::size_t slot = 0; slot < kLeafEntries; ++slot) {
      if (!node.used(slot)) continue;
      const LeafEntry entry = node.entry(slot);
      const auto bytes = key(entry.key);
      if (!bytes) return;
      ++keys;
      expect(entry.tag == tag_of(*bytes, node.leaf_prefix_bytes()), "a tag is wrong");
      expect((!low || *low <= *bytes) && (!high || *bytes < *high), "a key is not between its fences");
    }
  }

  void inner(const TreeNode& node, const std::optional<std::string>& low, const std::optional<std::string>& high) {
    const std::size_t children = node.children();
    expect(node.fence_bytes() == (low && high ? prefix_of(*low, *high) : 0), "fence bytes are wrong");
    std::vector<std::optional<std::string>> bounds{low};
    for (std::size_t i = 0; i + 1 < children; ++i) {
      bounds.push_back(key(node.separator(i)));
      if (!bounds.back()) return;
      expect(node.head(i) == head_of(*bounds.back(), node.prefix_bytes()), "a head is wrong");
      expect(!bounds[i] || *bounds[i] < *bounds[i + 1], "separators are out of order");
      expect(common_bytes(*bounds[1], *bounds[i + 1]) >= node.prefix_bytes(), "a separator without the prefix");
    }
    bounds.push_back(high);
    expect(!high || children == 1 || *bounds[children - 1] < *high, "a separator is behind the fence");
    for (std::size_t i = 0; i < children; ++i) {
      const bool missing = node.child(i) == HeapRef();
      expect(!missing || i == 0 || node.child(i - 1) != HeapRef(), "two missing children side by side");
      expect(!missing || children > 1, "a node without children");
      if (!missing) visit(node.child(i), node.level() - 1, bounds[i], bounds[i + 1]);
    }
  }

  void visit(HeapRef ref, std::size_t level, const std::optional<std::string>& low,
             const std::optional<std::string>& high) {
    TreeNode node;
    expect(node.read(nodes, ref, level), "a node of the tree is none");
    if (!wrong.empty()) return;
    reach(ref);
    level == 0 ? leaf(node, low, high) : inner(node, low, high);
  }
};

}  // namespace

std::string check_tree(const NodeSource& nodes, const TreeRoot& root, Reached& reached) {
  TreeCheck check{nodes, reached};
  check.expect((root.levels == 0) == (root.node == 0), "levels without a node");
  if (root.levels > 0) check.visit(HeapRef(static_cast<std::uint32_t>(root.node)), root.levels - 1, {}, {});
  check.expect(check.keys == root.keys, "keys are miscounted");
  return check.wrong;
}

std::string check_tree_books(Heap& heap, std::span<const std::byte> memory) {
  Reached reached;
  const std::string wrong = check_tree(heap.nodes(), heap.published().user_as<TreeScalars>().tree, reached);
  if (!wrong.empty()) return wrong;
  for (std::size_t i = 0; i < heap.retire_queue().size(); ++i) {
    const auto entry = heap.retire_queue().at(i);
    if (entry && entry->kind == kUnlinkKey && !reached.nodes.contains(entry->ref.value())) {
      return "a key that waits to be unlinked is not in the tree";
    }
  }
  return compare_books(heap, memory, std::move(reached));
}

}  // namespace ingot::test
