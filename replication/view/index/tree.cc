#include "replication/view/index/tree.h"

#include <algorithm>

#include "core/check.h"
#include "core/rule.h"
#include "replication/view/heap/classes.h"
#include "replication/view/index/key_node.h"
#include "replication/view/index/pieces.h"

namespace ingot::inline replication_view_index {
namespace {

constexpr std::size_t kNodeBytes = kTreeNodeWords * kWordBytes;

}  // namespace

// Two nodes of each level and a new topmost one; leaves count as the others. A separator is as long as the longest key
// at most.
std::uint64_t OrderedTree::room(std::size_t key_bytes) const {
  const std::size_t longest = std::max<std::size_t>(key_bytes, root_.longest_key);
  return (2 * root_.levels + 2) * kNodeBytes + key_room(longest);
}

std::size_t OrderedTree::words(std::size_t key_bytes) const {
  constexpr std::size_t kAllocationWords = 11;  // of descriptors, bitmaps and lists, when one extent follows another
  constexpr std::size_t kQueueChunks = 2;
  const std::size_t longest = std::max<std::size_t>(key_bytes, root_.longest_key);
  return (2 * root_.levels + 3 + kQueueChunks + pieces_for(longest)) * kAllocationWords + 1;
}

bool OrderedTree::damaged(const char* what) {
  source_.report(what, root_.node * kHeapRefUnit);
  return false;
}

// A node that was added. No memory is left: the caller has not asked.
std::optional<HeapRef> OrderedTree::stored(std::optional<HeapRef> node) {
  INGOT_CHECK(node || !heap_.status().ok(), "callers ask for room before a change");
  return node;
}

// ---- The way down --------------------------------------------------------------------------------------------------

bool OrderedTree::descend(std::string_view key) {
  depth_ = 0;
  end_ = std::nullopt;
  if (root_.levels == 0) return true;
  if (root_.levels > kTreeLevelsMax) return damaged("the levels of the ordered tree");
  HeapRef ref(static_cast<std::uint32_t>(root_.node));
  for (std::size_t level = root_.levels - 1; level > 0; --level) {
    Step& step = path_[depth_++];
    if (!step.node.read(source_, ref, level)) return false;
    const auto index = step.node.child_for(source_, key);
    if (!index) return false;
    step.index = *index;
    ref = step.node.child(*index);
    if (ref == HeapRef()) return true;
  }
  end_ = ref;
  return leaf_.read(source_, ref, 0);
}

// Of the child of the path's step before `depth`.
std::optional<OrderedTree::Fences> OrderedTree::fences(std::size_t depth) {
  Fences fences;
  while (depth-- > 0 && !(fences.low && fences.high)) {
    const Step& step = path_[depth];
    if (!fences.low && step.index > 0) {
      fences.low = key_at(source_, step.node.separator(step.index - 1));
      if (!fences.low) return std::nullopt;
    }
    if (!fences.high && step.index + 1 < step.node.children()) {
      fences.high = key_at(source_, step.node.separator(step.index));
      if (!fences.high) return std::nullopt;
    }
  }
  return fences;
}

// ---- Leaves --------------------------------------------------------------------------------------------------------

bool OrderedTree::insert(std::string_view key, HeapRef node) {
  if (!descend(key)) return false;
  ++root_.keys;
  root_.longest_key = std::max<std::uint64_t>(root_.longest_key, key.size());
  if (!end_) return add_leaf(key, node);
  for (std::size_t slot = 0; slot < kLeafEntries; ++slot) {
    if (leaf_.used(slot)) continue;
    const LeafEntry entry{node, tag_of(key, leaf_.leaf_prefix_bytes())};
    heap_.set(leaf_.entry_offset(slot), entry.content());
    return true;
  }
  return split_leaf(key, node);
}

// A leaf where there is none, and what is missing between it and the path's end.
bool OrderedTree::add_leaf(std::string_view key, HeapRef node) {
  const auto fences = this->fences(depth_);
  if (!fences) return false;
  LeafEntry entry{node, tag_of(key, fences->common())};
  auto ref = write_leaf(std::span(&entry, 1), fences->common());
  if (root_.levels == 0) root_.levels = 1;
  const std::size_t missing = depth_ == 0 ? 0 : path_[depth_ - 1].node.level() - 1;
  for (std::size_t level = 1; ref && level <= missing; ++level) {
    ref = stored(heap_.add(tree_inner_kind(level), InnerEdit(fences->common(), *ref).content()));
  }
  return ref && replace({.left = *ref});
}

std::optional<HeapRef> OrderedTree::write_leaf(std::span<const LeafEntry> entries, std::size_t prefix) {
  std::array<std::uint64_t, kLeafContentWords> content{prefix};
  for (std::size_t i = 0; i < entries.size(); ++i) content[kLeafWords.first + i] = entries[i].content();
  return stored(heap_.add(kTreeLeafKind, content, kLeafWords));
}

// Puts that key, and all that the full leaf has, into two new ones. A key behind all others likely comes from ascending
// ones: then the left leaf stays full.
bool OrderedTree::split_leaf(std::string_view key, HeapRef node) {
  std::array<LeafEntry, kLeafEntries + 1> entries;
  if (!leaf_.entries_fit(source_)) return false;
  for (std::size_t slot = 0; slot < kLeafEntries; ++slot) entries[slot] = leaf_.entry(slot);
  entries.back() = {node, tag_of(key, leaf_.leaf_prefix_bytes())};
  if (!LeafEntry::sort(source_, entries)) return false;
  const std::size_t half = entries.back().key == node ? kLeafEntries : entries.size() / 2;
  const auto below = key_at(source_, entries[half - 1].key), above = key_at(source_, entries[half].key);
  const auto fences = this->fences(depth_);
  if (!below || !above || !fences) return false;
  if (!(*below < *above)) return damaged("a key that is twice in the ordered tree");
  const std::string separator = above->substr(0, common_bytes(*below, *above) + 1);
  const auto ref = stored(add_key(heap_, separator, {}));
  const auto left = half_leaf(std::span(entries).first(half), {fences->low, separator});
  const auto right = half_leaf(std::span(entries).subspan(half), {separator, fences->high});
  if (!ref || !left || !right) return false;
  if (!INGOT_RULE("leaf-stays")) {
    for (std::size_t slot = 0; slot < kLeafEntries; ++slot) heap_.set(leaf_.entry_offset(slot), 0);
  }
  heap_.retire(leaf_.ref());
  return replace({*left, *ref, separator, *right});
}

// A leaf between those fences, of a part of the leaf that is split.
std::optional<HeapRef> OrderedTree::half_leaf(std::span<LeafEntry> entries, const Fences& fences) {
  const std::size_t prefix = fences.common();
  const bool as_before = prefix == leaf_.leaf_prefix_bytes() || !INGOT_RULE("tags-follow-prefix");
  for (LeafEntry& entry : as_before ? std::span<LeafEntry>() : entries) {
    const auto key = key_at(source_, entry.key);
    if (!key) return std::nullopt;
    entry.tag = tag_of(*key, prefix);
  }
  return write_leaf(entries, prefix);
}

bool OrderedTree::erase(std::string_view key, HeapRef node) {
  if (!descend(key)) return false;
  std::size_t found = kLeafEntries, others = 0;
  for (std::size_t slot = 0; end_ && slot < kLeafEntries; ++slot) {
    if (leaf_.used(slot)) leaf_.entry(slot).key == node ? found = slot : ++others;
  }
  if (found == kLeafEntries) return damaged("a key that is not in the ordered tree");
  if (!source_.content(leaf_.entry_offset(found))) return false;
  heap_.set(leaf_.entry_offset(found), 0);
  --root_.keys;
  if (others > 0) return true;
  // Without memory for copies the leaf stays, empty.
  return !heap_.has_room(root_.levels * kNodeBytes) || remove_leaf();
}

// ---- Inner nodes ---------------------------------------------------------------------------------------------------

// Makes the path's nodes anew, from its end to the first one that stays where it is.
bool OrderedTree::replace(Replacement child) {
  for (std::size_t depth = depth_; depth-- > 0;) {
    const Step& step = path_[depth];
    InnerEdit edit(step.node);
    edit.set_child(step.index, child.left);
    if (child.separator != HeapRef() &&
        !edit.add(source_, step.index, child.separator, child.separator_key, child.right)) {
      return false;
    }
    if (edit.size() > kInnerChildrenMax) {
      auto halves = split_inner(depth, edit);
      if (!halves) return false;
      child = *std::move(halves);
      continue;
    }
    const auto ref = rewrite(step.node, edit);
    if (!ref) return false;
    if (*ref == step.node.ref()) return true;
    child = {.left = *ref};
  }
  if (child.separator != HeapRef()) {
    if (root_.levels >= kTreeLevelsMax) return damaged("the levels of the ordered tree");
    InnerEdit top(0, child.left);
    if (!top.add(source_, 0, child.separator, child.separator_key, child.right)) return false;
    const auto ref = stored(heap_.add(tree_inner_kind(root_.levels), top.content()));
    if (!ref) return false;
    ++root_.levels;
    child.left = *ref;
  }
  root_.node = child.left.value();
  return true;
}

// The node at that depth of the path, which has a child too many, becomes two.
std::optional<OrderedTree::Replacement> OrderedTree::split_inner(std::size_t depth, InnerEdit& edit) {
  const TreeNode& node = path_[depth].node;
  const bool at_end = path_[depth].index + 1 == node.children();  // ascending keys, as in leaves
  InnerEdit right;
  const HeapRef separator = edit.split(at_end ? kInnerChildrenMax : edit.size() / 2, right);
  auto fences = this->fences(depth);
  auto key = key_at(source_, separator);
  if (!fences || !key || !edit.set_fence_bytes(source_, Fences{fences->low, *key}.common()) ||
      !right.set_fence_bytes(source_, Fences{*key, fences->high}.common())) {
    return std::nullopt;
  }
  const NodeKind kind = tree_inner_kind(node.level());
  const auto left_ref = stored(heap_.add(kind, edit.content())), right_ref = stored(heap_.add(kind, right.content()));
  if (!left_ref || !right_ref) return std::nullopt;
  heap_.retire(node.ref());
  return Replacement{*left_ref, separator, *std::move(key), *right_ref};
}

// A copy of a node with those changes. What this batch has written is in no root, and changes where it is.
std::optional<HeapRef> OrderedTree::rewrite(const TreeNode& node, InnerEdit& edit) {
  const NodeKind kind = tree_inner_kind(node.level());
  const auto content = edit.content();
  const bool unpublished = node.birth_batch() == heap_.batch() || !INGOT_RULE("inner-copied");
  const std::size_t bytes_before = node_bytes(inner_content_words(node.children()));
  if (unpublished && class_of(node_bytes(content.size())) == class_of(bytes_before)) {
    heap_.write(node.ref(), kind, content);
    return node.ref();
  }
  const auto ref = stored(heap_.add(kind, content));
  if (ref && INGOT_RULE("inner-retired")) heap_.retire(node.ref());
  return ref;
}

// Takes the path's leaf away, and each inner node that has no child then.
bool OrderedTree::remove_leaf() {
  heap_.retire(*end_);
  while (depth_ > 0) {
    const Step& step = path_[depth_ - 1];
    InnerEdit edit(step.node);
    edit.set_child(step.index, HeapRef());
    if (!join_missing(edit)) return false;
    if (edit.size() > 1 || edit.child(0) != HeapRef()) {
      const auto ref = rewrite(step.node, edit);
      --depth_;
      return ref && (*ref == step.node.ref() || replace({.left = *ref}));
    }
    heap_.retire(step.node.ref());
    --depth_;
  }
  root_.node = root_.levels = 0;
  return true;
}

// Joins missing neighbours, so that at most each second child is missing.
bool OrderedTree::join_missing(InnerEdit& edit) {
  while (const auto separator = INGOT_RULE("missing-joined") ? edit.join_missing() : std::nullopt) {
    KeyNode node;
    if (!node.read(source_, *separator)) return false;
    if (INGOT_RULE("separators-retired")) node.retire(heap_, *separator);
  }
  return true;
}

}  // namespace ingot::replication_view_index
