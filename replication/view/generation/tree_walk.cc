#include "replication/view/generation/tree_walk.h"

#include "core/rule.h"

namespace ingot::inline replication_view_generation {
namespace {

// Where the heads of most nodes lie. They are looked at by halves, so they are fetched all at once before.
constexpr int kHeadUnits = 9;

}  // namespace

bool TreeWalk::open(NodeRef ref, std::size_t level) {
  if (!source_.take(1) || !source_.holds(ref, 1)) return false;
  source_.prefetch(ref, kHeadUnits);
  const std::uint64_t word = source_.load(word_of(ref));
  Level& opened = levels_[level];
  opened = {word_of(ref), TreeShape::of(word), 0};
  if (!is_kind(word, NodeKind::kTree) || !opened.shape.valid() || opened.shape.level != level) return false;
  return source_.holds(ref, opened.shape.words());
}

bool TreeWalk::seek(std::string_view key) {
  NodeRef ref = root_.tree;
  for (std::size_t level = root_.tree_levels; level-- > 0;) {
    if (!open(ref, level)) return false;
    const auto found = bound(levels_[level], key, level > 0);
    if (!found) return false;
    levels_[level].at = level > 0 ? *found - 1 : *found;
    if (level > 0 && !source_.take(1)) return false;
    if (level > 0) ref = child(levels_[level]);
  }
  if (levels_[0].at < count()) return true;
  bool end = false;  // the key is above all of the leaf
  return next_leaf(end);
}

bool TreeWalk::seek_ranked(std::string_view key, std::uint64_t& rank) {
  NodeRef ref = root_.tree;
  rank = 0;
  for (std::size_t level = root_.tree_levels; level-- > 0;) {
    if (!open(ref, level)) return false;
    const auto found = bound(levels_[level], key, level > 0);
    if (!found) return false;
    if (level == 0) {
      rank += *found;
      return true;
    }
    Level& inner = levels_[level];
    inner.at = *found - 1;
    if (!source_.take(inner.at + 1)) return false;
    for (std::size_t i = 0; i < inner.at; ++i) rank += source_.load(inner.word + inner.shape.counts() + i);
    ref = child(inner);
  }
  return false;
}

bool TreeWalk::next_leaf(bool& end) {
  std::size_t level = 1;
  while (level < root_.tree_levels && levels_[level].at + 1 >= levels_[level].shape.count) ++level;
  end = level >= root_.tree_levels;
  if (end) {
    levels_[0].at = count();
    return true;
  }
  ++levels_[level].at;
  for (; level > 0; --level) {
    if (!source_.take(1) || !open(child(levels_[level]), level - 1)) return false;
  }
  if (root_.tree_levels > 1) prefetch_next(levels_[1]);
  return true;
}

void TreeWalk::prefetch_next(const Level& parent) const {
  if (parent.at + 1 >= parent.shape.count) return;
  source_.prefetch(low_half(source_.load(parent.word + parent.shape.links() + parent.at + 1)), kHeadUnits);
}

std::optional<std::size_t> TreeWalk::bound(const Level& level, std::string_view key, bool above) {
  const std::size_t first = level.shape.level > 0 ? 1 : 0;
  int order = 0;
  if (!compare_prefix(level, key, order)) return std::nullopt;
  if (order != 0) return order > 0 ? first : level.shape.count;
  const std::uint64_t head = head_of(key, level.shape.prefix_bytes);
  std::size_t low = first;
  for (std::size_t high = level.shape.count; low < high;) {
    const std::size_t middle = (low + high) / 2;
    if (!source_.take(1)) return std::nullopt;
    const std::uint64_t found = source_.load(level.word + level.shape.heads() + middle);
    bool below = found < head;
    if (found == head && INGOT_RULE("equal-heads-compared")) {
      if (!compare_entry(level, middle, key, order)) return std::nullopt;
      below = order < 0 || (above && order == 0);
    }
    if (below) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Above 0: the prefix, and so each key of the node, is above the key.
bool TreeWalk::compare_prefix(const Level& level, std::string_view key, int& order) {
  const std::size_t bytes = level.shape.prefix_bytes;
  return source_.compare(level.word + 1, bytes, key.substr(0, bytes), order);
}

// In a leaf a version's key, otherwise a separator.
bool TreeWalk::compare_entry(const Level& level, std::size_t i, std::string_view key, int& order) {
  const bool leaf = level.shape.level == 0;
  if (!source_.take(3)) return false;
  const std::uint64_t link = source_.load(level.word + level.shape.links() + i);
  const NodeRef ref = leaf ? low_half(link) : high_half(link);
  const std::uint64_t head = leaf ? kVersionHeadWords : kSeparatorHeadWords;
  if (!source_.holds(ref, head)) return false;
  if (!is_kind(source_.load(word_of(ref)), leaf ? NodeKind::kVersion : NodeKind::kSeparator)) return false;
  const std::size_t bytes = low_half(source_.load(word_of(ref) + 1));
  if (bytes > kViewBytesMax || !source_.holds(ref, head + words_for(bytes))) return false;
  return source_.compare(word_of(ref) + head, bytes, key, order);
}

}  // namespace ingot::replication_view_generation
