#include "replication/view/index/tree_cursor.h"

#include "replication/view/heap/classes.h"
#include "replication/view/index/key_node.h"

namespace ingot::inline replication_view_index {

TreeStep TreeCursor::seek(std::string_view key) {
  if (const TreeStep step = descend(key); step != TreeStep::kKey) {
    return step == TreeStep::kPaused ? neighbour(kForward) : step;
  }
  const auto first = first_not_below(key);
  if (!first) return TreeStep::kGarbage;
  at_ = *first;
  return at_ < count_ ? TreeStep::kKey : neighbour(kForward);
}

TreeStep TreeCursor::seek_before(std::string_view key) {
  if (const TreeStep step = descend(key); step != TreeStep::kKey) {
    return step == TreeStep::kPaused ? neighbour(kBack) : step;
  }
  const auto first = first_not_below(key);
  if (!first) return TreeStep::kGarbage;
  if (*first == 0) return neighbour(kBack);
  at_ = *first - 1;
  return TreeStep::kKey;
}

TreeStep TreeCursor::seek_last() {
  depth_ = count_ = at_ = 0;
  walked_ = 0;
  if (root_.levels == 0) return TreeStep::kEnd;
  const HeapRef top(static_cast<std::uint32_t>(root_.node));
  if (!plausible() || !open_node(top, root_.levels - 1, kBack)) return TreeStep::kGarbage;
  return count_ > 0 ? TreeStep::kKey : neighbour(kBack);
}

TreeStep TreeCursor::next() {
  if (at_ + 1 >= count_) return neighbour(kForward);
  ++at_;
  return TreeStep::kKey;
}

TreeStep TreeCursor::previous() {
  if (at_ == 0 || count_ == 0) return neighbour(kBack);
  --at_;
  return TreeStep::kKey;
}

bool TreeCursor::plausible() const {
  if (root_.levels <= kTreeLevelsMax && root_.node <= ~std::uint32_t{0}) return true;
  source_.report("the root of the ordered tree", 0);
  return false;
}

// Opens the leaf in which such a key lies. kPaused: there is none, or it is empty.
TreeStep TreeCursor::descend(std::string_view key) {
  depth_ = count_ = at_ = 0;
  walked_ = 0;
  if (root_.levels == 0) return TreeStep::kEnd;
  if (!plausible()) return TreeStep::kGarbage;
  HeapRef ref(static_cast<std::uint32_t>(root_.node));
  for (std::size_t level = root_.levels - 1; level > 0; --level) {
    if (!open_node(ref, level, kForward)) return TreeStep::kGarbage;
    Step& step = path_[depth_ - 1];
    const auto index = step.node.child_for(source_, key);
    if (!index) return TreeStep::kGarbage;
    step.index = static_cast<std::ptrdiff_t>(*index);
    ref = step.node.child(*index);
    if (ref == HeapRef()) return TreeStep::kPaused;
  }
  if (!open_leaf(ref)) return TreeStep::kGarbage;
  return count_ > 0 ? TreeStep::kKey : TreeStep::kPaused;
}

// Goes on to the next leaf with a key.
TreeStep TreeCursor::neighbour(Direction direction) {
  count_ = at_ = 0;
  if (direction != direction_) walked_ = 0;
  direction_ = direction;
  for (std::size_t nodes = 0; nodes < kStepNodesMax;) {
    if (depth_ == 0) return TreeStep::kEnd;
    Step& step = path_[depth_ - 1];
    if (!step.move(direction)) {
      --depth_;
      continue;
    }
    const HeapRef child = step.node.child(static_cast<std::size_t>(step.index));
    if (child == HeapRef()) continue;
    ++nodes;
    if (++walked_ > source_.bytes() / kClassBytes.front()) {
      source_.report("an ordered tree that does not end", offset_of(child));
      return TreeStep::kGarbage;
    }
    if (!open_node(child, step.node.level() - 1, direction)) return TreeStep::kGarbage;
    if (count_ > 0) return TreeStep::kKey;
  }
  return TreeStep::kPaused;
}

// Before its first child or entry, in that direction.
bool TreeCursor::open_node(HeapRef ref, std::size_t level, Direction direction) {
  if (level == 0) {
    if (!open_leaf(ref)) return false;
    if (direction == kBack && count_ > 0) at_ = count_ - 1;
    return true;
  }
  Step& step = path_[depth_];
  if (!step.node.read(source_, ref, level)) return false;
  step.index = direction == kForward ? -1 : static_cast<std::ptrdiff_t>(step.node.children());
  ++depth_;
  return true;
}

bool TreeCursor::open_leaf(HeapRef ref) {
  if (!leaf_.read(source_, ref, 0) || !leaf_.entries_fit(source_)) return false;
  for (std::size_t slot = 0; slot < kLeafEntries; ++slot) {
    if (leaf_.used(slot)) entries_[count_++] = leaf_.entry(slot);
  }
  return LeafEntry::sort(source_, std::span(entries_).first(count_));
}

// The leaf's first entry whose key is not below that one; its number of entries: all are.
std::optional<std::size_t> TreeCursor::first_not_below(std::string_view key) {
  const std::uint16_t tag = tag_of(key, leaf_.leaf_prefix_bytes());
  std::size_t begin = 0, end = count_;
  while (begin < end) {
    const std::size_t middle = (begin + end) / 2;
    bool below = entries_[middle].tag < tag;
    if (entries_[middle].tag == tag) {
      KeyNode node;
      if (!node.read(source_, entries_[middle].key)) return std::nullopt;
      const auto order = node.compare(source_, key);
      if (!order) return std::nullopt;
      below = *order < 0;
    }
    below ? begin = middle + 1 : end = middle;
  }
  return begin;
}

}  // namespace ingot::replication_view_index
