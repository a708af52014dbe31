#include "replication/view/index/directory.h"

#include <limits>

#include "core/rule.h"
#include "replication/view/index/kinds.h"

namespace ingot::inline replication_view_index {
namespace {

// So many entries below nodes of the next level; the most there can be, whatever a root says.
std::uint64_t times_fan_out(std::uint64_t entries) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return entries > kMost / kDirectoryFanOut ? kMost : entries * kDirectoryFanOut;
}

}  // namespace

// How many entries a node of that level leads to; those of level 1 have the entries themselves.
std::uint64_t Directory::entries_below(int level) {
  std::uint64_t entries = 1;
  for (; level > 0; --level) entries = times_fan_out(entries);
  return entries;
}

int Directory::height(std::uint64_t count) {
  int levels = 0;
  for (std::uint64_t entries = 1; count > 0 && (levels == 0 || entries < count); ++levels) {
    entries = times_fan_out(entries);
  }
  return levels;
}

// The node of that level on the way to an entry; level 0: the entry.
std::optional<HeapRef> Directory::node_above(const NodeSource& source, const DirectoryRoot& root, std::uint64_t number,
                                             int level) {
  HeapRef node(static_cast<std::uint32_t>(root.top));
  for (int at = height(root.count); at > level; --at) {
    const std::size_t slot = number / entries_below(at - 1) % kDirectoryFanOut;
    const auto child = source.content(content_offset(node, slot));
    if (!child) return std::nullopt;
    node = HeapRef(static_cast<std::uint32_t>(*child));
  }
  return node;
}

std::optional<HeapRef> Directory::at(const NodeSource& source, const DirectoryRoot& root, std::uint64_t number) {
  return node_above(source, root, number, 0);
}

std::optional<HeapRef> Directory::add_node() {
  const auto node = heap_.allocate(kHeapNodeBytesMax);
  if (node) heap_.write(*node, {.kind = static_cast<std::uint8_t>(IndexNode::kDirectory)}, {});
  return node;
}

bool Directory::append(HeapRef ref) {
  const std::uint64_t number = root_.count;
  const int levels = height(number + 1);
  HeapRef node(static_cast<std::uint32_t>(root_.top));
  if (levels > height(number)) {
    const auto top = add_node();
    if (!top) return false;
    if (number > 0) heap_.append(content_offset(*top, 0), node.value());
    node = *top;
  }
  const HeapRef top = node;
  for (int level = levels; level > 1; --level) {
    const std::uint64_t below = entries_below(level - 1);
    const std::uint64_t word = content_offset(node, number / below % kDirectoryFanOut);
    // The number tells whether the node is there: behind the end a word may be a killed writer's.
    const bool fresh = INGOT_RULE("numbers-tell") ? number % below == 0 : heap_.content(word) == 0;
    const auto child = fresh ? add_node() : HeapRef(static_cast<std::uint32_t>(heap_.content(word)));
    if (!child) return false;
    if (fresh) heap_.append(word, child->value());
    node = *child;
  }
  heap_.append(content_offset(node, number % kDirectoryFanOut), ref.value());
  root_ = {top.value(), number + 1};
  return heap_.status().ok();
}

void Directory::drop(std::uint64_t number) {
  for (int level = 1; level <= height(root_.count); ++level) {
    if ((number + 1) % entries_below(level) != 0) return;
    const auto node = node_above(heap_.nodes(), root_, number, level);
    if (!node) return;
    heap_.retire(*node);
  }
}

}  // namespace ingot::replication_view_index
