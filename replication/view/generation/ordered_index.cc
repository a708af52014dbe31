#include "replication/view/generation/ordered_index.h"

#include <cstring>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/rule.h"

namespace ingot::inline replication_view_generation {

void OrderedIndex::put(NodeRef version) {
  const std::string_view key = nodes_.key_of(version);
  if (root_ == 0) {
    TreeNode leaf(0);
    leaf.insert(nodes_, 0, version, 0, 1);
    root_ = leaf.write(nodes_, 0);
    levels_ = 1;
    keys_ = 1;
    return;
  }
  const Changed changed = put_below(root_, key, version, true);
  if (nodes_.space().exhausted()) return;
  root_ = changed.node;
  if (changed.done) ++keys_;
  if (changed.right != 0) add_root(changed);
}

void OrderedIndex::add_root(const Changed& halves) {
  TreeNode node(levels_);
  node.insert(nodes_, 0, halves.node, 0, halves.keys);
  node.insert(nodes_, 1, halves.right, halves.separator, halves.right_keys);
  root_ = node.write(nodes_, 0);
  INGOT_CHECK(++levels_ <= kTreeLevelsMax);
}

OrderedIndex::Changed OrderedIndex::put_below(NodeRef ref, std::string_view key, NodeRef version, bool last) {
  if (TreeShape::of(nodes_.at(ref)[0]).level == 0) return put_in_leaf(ref, key, version, last);
  TreeNode node = TreeNode::read(nodes_, ref);
  const std::size_t i = node.child_of(nodes_, key);
  const bool last_below = last && i + 1 == node.count();
  const Changed below = put_below(node.link(i), key, version, last_below);
  if (nodes_.space().exhausted()) return {.node = ref};
  const bool same = below.node == node.link(i) && below.right == 0 && below.keys == node.keys(i);
  if (same) return {.node = ref, .keys = node.all_keys(), .count = node.count(), .done = below.done};
  node.set_link(i, below.node);
  node.set_keys(i, below.keys);
  if (below.right != 0) node.insert(nodes_, i + 1, below.right, below.separator, below.right_keys);
  return written(node, ref, last_below, below.done);
}

OrderedIndex::Changed OrderedIndex::put_in_leaf(NodeRef ref, std::string_view key, NodeRef version, bool last) {
  TreeNode leaf = TreeNode::read(nodes_, ref);
  bool found = false;
  const std::size_t i = leaf.lower_bound(nodes_, key, found);
  if (found) {
    leaf.set_link(i, version);
  } else {
    leaf.insert(nodes_, i, version, 0, 1);
  }
  return written(leaf, ref, last && i + 1 == leaf.count(), !found);
}

// An overfull node becomes two: halves, or all but the last entry and that one, if it grew at the end of the tree, as
// it does when keys are loaded in their order.
OrderedIndex::Changed OrderedIndex::written(TreeNode& node, NodeRef ref, bool at_end, bool done) {
  Changed changed;
  changed.done = done;
  if (node.overfull()) {
    const std::size_t from = at_end ? node.count() - 1 : node.count() / 2;
    const NodeRef left_last = node.link(from - 1);
    TreeNode right(node.level());
    changed.separator = node.split(nodes_, from, right);
    if (node.level() == 0) {
      changed.separator = add_separator(nodes_.key_of(left_last), nodes_.key_of(right.link(0)));
    }
    changed.right = right.write(nodes_, 0);
    changed.right_keys = right.all_keys();
  }
  changed.node = node.write(nodes_, ref);
  changed.keys = node.all_keys();
  changed.count = node.count();
  return changed;
}

NodeRef OrderedIndex::add_separator(std::string_view left, std::string_view right) {
  const std::string_view bytes = separator_of(left, right);
  std::vector<std::uint64_t> words(kSeparatorHeadWords + words_for(bytes.size()));
  words[0] = kind_bits(NodeKind::kSeparator);
  words[1] = bytes.size();
  std::memcpy(words.data() + kSeparatorHeadWords, bytes.data(), bytes.size());
  return nodes_.add(words);
}

void OrderedIndex::drop_separator(NodeRef separator) {
  if (separator != 0) nodes_.drop(separator, kSeparatorHeadWords + words_for(nodes_.key_of(separator).size()));
}

// The separator of an entry, or the next one's, which becomes the first.
void OrderedIndex::drop_entry(TreeNode& node, std::size_t i) {
  const std::size_t without = i == 0 && node.count() > 1 ? 1 : i;
  drop_separator(node.separator(without));
  node.erase(i);
}

bool OrderedIndex::erase(std::string_view key) {
  if (root_ == 0) return false;
  const Changed changed = erase_below(root_, key);
  if (!changed.done) return false;
  root_ = changed.node;
  --keys_;
  if (root_ == 0) levels_ = 0;
  remove_thin_roots();
  return true;
}

void OrderedIndex::remove_thin_roots() {
  while (levels_ > 1 && !nodes_.space().exhausted()) {
    const TreeNode node = TreeNode::read(nodes_, root_);
    if (node.count() > 1) return;
    nodes_.drop(root_, TreeNode::words_at(nodes_, root_));
    root_ = node.link(0);
    --levels_;
  }
}

// False: the end was reached.
bool OrderedIndex::list_below(NodeRef ref, std::string_view begin, std::string_view end,
                              std::vector<std::string>& keys) const {
  const TreeNode node = TreeNode::read(nodes_, ref);
  bool found = false;
  std::size_t i = node.level() == 0 ? node.lower_bound(nodes_, begin, found) : node.child_of(nodes_, begin);
  for (; i < node.count(); ++i) {
    if (node.level() > 0) {
      if (!list_below(node.link(i), begin, end, keys)) return false;
      continue;
    }
    const std::string_view key = nodes_.key_of(node.link(i));
    if (!end.empty() && key >= end) return false;
    keys.emplace_back(key);
  }
  return true;
}

OrderedIndex::Changed OrderedIndex::erase_below(NodeRef ref, std::string_view key) {
  TreeNode node = TreeNode::read(nodes_, ref);
  std::size_t i = 0;
  if (node.level() == 0) {
    bool found = false;
    i = node.lower_bound(nodes_, key, found);
    if (!found) return {};
    node.erase(i);
  } else {
    i = node.child_of(nodes_, key);
    const Changed below = erase_below(node.link(i), key);
    if (!below.done) return {};
    if (nodes_.space().exhausted()) return {.node = ref, .done = true};
    if (below.node == 0) {
      drop_entry(node, i);
    } else {
      node.set_link(i, below.node);
      node.set_keys(i, below.keys);
      if (below.count < kTreeEntriesFew) join_neighbours(node, i, below.count);
    }
  }
  if (node.count() == 0) {
    nodes_.drop(ref, TreeNode::words_at(nodes_, ref));
    return {.done = true};
  }
  return written(node, ref, false, true);
}

void OrderedIndex::join_neighbours(TreeNode& node, std::size_t i, std::size_t count) {
  if (node.count() < 2) return;
  const std::size_t left = i > 0 ? i - 1 : i;
  const NodeRef other = node.link(left == i ? i + 1 : left);
  if (count + TreeShape::of(nodes_.at(other)[0]).count > kTreeEntriesJoined) return;
  const NodeRef right_ref = node.link(left + 1);
  const NodeRef separator = node.separator(left + 1);
  TreeNode joined = TreeNode::read(nodes_, node.link(left));
  joined.join(nodes_, TreeNode::read(nodes_, right_ref), separator);
  nodes_.drop(right_ref, TreeNode::words_at(nodes_, right_ref));
  node.set_keys(left, node.keys(left) + node.keys(left + 1));
  node.set_link(left, joined.write(nodes_, node.link(left)));
  if (joined.level() == 0) drop_separator(separator);
  node.erase(left + 1);
}

}  // namespace ingot::replication_view_generation
