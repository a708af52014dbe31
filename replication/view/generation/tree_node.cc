#include "replication/view/generation/tree_node.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "core/check.h"
#include "core/rule.h"

namespace ingot::inline replication_view_generation {
namespace {

std::size_t common_bytes(std::string_view a, std::string_view b) {
  const std::size_t most = std::min({a.size(), b.size(), kTreePrefixBytesMax});
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin())
                                      .first - a.begin());
}

}  // namespace

std::string_view separator_of(std::string_view left, std::string_view right) {
  const std::size_t most = std::min(left.size(), right.size());
  const auto differs = std::mismatch(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(most), right.begin());
  return right.substr(0, static_cast<std::size_t>(differs.first - left.begin()) + 1);
}

TreeNode TreeNode::read(const Nodes& nodes, NodeRef ref) {
  const std::uint64_t* const words = nodes.at(ref);
  const TreeShape shape = TreeShape::of(words[0]);
  INGOT_CHECK(is_kind(words[0], NodeKind::kTree) && shape.valid(), "the writer finds what it has written");
  TreeNode node(shape.level);
  node.count_ = shape.count;
  node.prefix_.assign(reinterpret_cast<const char*>(words + 1), shape.prefix_bytes);
  for (std::size_t i = 0; i < node.count_; ++i) {
    node.heads_[i] = words[shape.heads() + i];
    node.links_[i] = low_half(words[shape.links() + i]);
    node.separators_[i] = high_half(words[shape.links() + i]);
    node.keys_[i] = shape.level > 0 ? words[shape.counts() + i] : 1;
  }
  return node;
}

std::uint64_t TreeNode::all_keys() const {
  if (level_ == 0) return count_;
  return std::accumulate(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count_), std::uint64_t{0});
}

std::size_t TreeNode::bound(const Nodes& nodes, std::string_view key, bool above) const {
  const std::size_t first = first_keyed();
  const int order = key.substr(0, prefix_.size()).compare(prefix_);
  if (order != 0) return order < 0 ? first : count_;
  const std::uint64_t head = head_of(key, prefix_.size());
  std::size_t low = first;
  for (std::size_t high = count_; low < high;) {
    const std::size_t middle = (low + high) / 2;
    bool below = heads_[middle] < head;
    if (heads_[middle] == head && INGOT_RULE("heads-tell-little")) {
      const int exact = nodes.key_of(key_ref(middle)).compare(key);
      below = exact < 0 || (above && exact == 0);
    }
    if (below) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::size_t TreeNode::lower_bound(const Nodes& nodes, std::string_view key, bool& found) const {
  const std::size_t i = bound(nodes, key, false);
  found = i < count_ && nodes.key_of(links_[i]) == key;
  return i;
}

std::size_t TreeNode::child_of(const Nodes& nodes, std::string_view key) const { return bound(nodes, key, true) - 1; }

void TreeNode::insert(const Nodes& nodes, std::size_t i, NodeRef link, NodeRef separator, std::uint64_t keys) {
  INGOT_CHECK(count_ <= kTreeEntriesMax && i <= count_);
  for (std::size_t j = count_; j > i; --j) move(j - 1, j);
  ++count_;
  links_[i] = link;
  separators_[i] = separator;
  keys_[i] = keys;
  heads_[i] = 0;
  if (i < first_keyed()) return;
  const std::string_view key = nodes.key_of(key_ref(i));
  if (count_ == first_keyed() + 1) {  // it is the only one
    prefix_ = key.substr(0, kTreePrefixBytesMax);
    heads_[i] = head_of(key, prefix_.size());
    return;
  }
  const std::size_t common = common_bytes(prefix_, key);
  heads_[i] = head_of(key, prefix_.size());
  if (common == prefix_.size() || !INGOT_RULE("prefix-shortens")) return;
  prefix_.resize(common);
  find_heads(nodes);
}

void TreeNode::erase(std::size_t i) {
  for (std::size_t j = i; j + 1 < count_; ++j) move(j + 1, j);
  --count_;
  if (level_ > 0 && count_ > 0) separators_[0] = heads_[0] = 0;
}

void TreeNode::find_prefix(const Nodes& nodes) {
  prefix_.clear();
  if (count_ <= first_keyed()) return;
  const std::string_view first = nodes.key_of(key_ref(first_keyed()));
  prefix_ = first.substr(0, count_ == first_keyed() + 1 ? kTreePrefixBytesMax
                                                        : common_bytes(first, nodes.key_of(key_ref(count_ - 1))));
}

void TreeNode::find_heads(const Nodes& nodes) {
  for (std::size_t i = first_keyed(); i < count_; ++i) heads_[i] = head_of(nodes.key_of(key_ref(i)), prefix_.size());
}

NodeRef TreeNode::split(const Nodes& nodes, std::size_t from, TreeNode& right) {
  right.level_ = level_;
  right.count_ = count_ - from;
  for (std::size_t i = from; i < count_; ++i) {
    right.links_[i - from] = links_[i];
    right.separators_[i - from] = separators_[i];
    right.keys_[i - from] = keys_[i];
  }
  count_ = from;
  const NodeRef separator = level_ > 0 ? right.separators_[0] : 0;
  if (level_ > 0) right.separators_[0] = right.heads_[0] = 0;
  for (TreeNode* half : {this, &right}) {
    half->find_prefix(nodes);
    half->find_heads(nodes);
  }
  return separator;
}

void TreeNode::join(const Nodes& nodes, const TreeNode& right, NodeRef separator) {
  const std::size_t first = count_;
  INGOT_CHECK(first + right.count_ <= kTreeEntriesMax);
  for (std::size_t i = 0; i < right.count_; ++i) {
    links_[first + i] = right.links_[i];
    separators_[first + i] = right.separators_[i];
    keys_[first + i] = right.keys_[i];
  }
  if (level_ > 0) separators_[first] = separator;
  count_ += right.count_;
  find_prefix(nodes);
  find_heads(nodes);
}

NodeRef TreeNode::write(Nodes& nodes, NodeRef ref) const {
  const TreeShape shape{static_cast<std::uint32_t>(prefix_.size()), static_cast<std::uint16_t>(count_), level_};
  std::array<std::uint64_t, kTreeNodeWordsMax> words;
  INGOT_CHECK(shape.valid() && shape.words() <= words.size());
  words[shape.heads() - 1] = 0;  // the rest of the prefix's last word
  words[0] = shape.word();
  std::memcpy(words.data() + 1, prefix_.data(), prefix_.size());
  for (std::size_t i = 0; i < count_; ++i) {
    words[shape.heads() + i] = heads_[i];
    words[shape.links() + i] = two_halves(links_[i], separators_[i]);
    if (level_ > 0) words[shape.counts() + i] = keys_[i];
  }
  const std::span<const std::uint64_t> written(words.data(), shape.words());
  if (ref != 0) {
    const std::uint64_t before = words_at(nodes, ref);
    const bool mine = nodes.made_in_batch(ref) || !INGOT_RULE("nodes-copied");
    if (mine && units_for(before) == units_for(written.size())) {
      nodes.write(ref, written);
      return ref;
    }
    nodes.drop(ref, before);
  }
  return nodes.add(written);
}

}  // namespace ingot::replication_view_generation
