#include "replication/view/index/tree_node.h"

#include <limits>
#include <string>

#include "core/rule.h"
#include "replication/view/index/key_node.h"

namespace ingot::inline replication_view_index {

// ---- Copying -------------------------------------------------------------------------------------------------------

bool TreeNode::read(const NodeSource& source, HeapRef ref, std::size_t level) {
  ref_ = ref;
  return level == 0 ? read_leaf(source) : read_inner(source, level);
}

bool TreeNode::read_leaf(const NodeSource& source) {
  if (!source.copy(ref_, std::span(image_).first(kNodeHeaderWords + kLeafContentWords), kLeafWords)) return false;
  if (kind_of(image_[0]) != kTreeLeafKind) return is_none(source);
  for (std::size_t slot = 0; slot < kLeafEntries; ++slot) {
    const auto word = source.peek(ref_, kLeafWords.first + slot);
    if (!word) return false;
    image_[kNodeHeaderWords + kLeafWords.first + slot] = *word;
  }
  return true;
}

bool TreeNode::entries_fit(const NodeSource& source) const {
  for (std::size_t slot = 0; slot < kLeafEntries; ++slot) {
    if (content_of(entry_offset(slot), word(slot))) continue;
    source.report("an entry of the ordered tree", entry_offset(slot));
    return false;
  }
  return true;
}

bool TreeNode::read_inner(const NodeSource& source, std::size_t level) {
  const auto sizes = source.peek(ref_, 0);
  if (!sizes) return false;
  const std::uint64_t count = *sizes >> 32;
  if (count == 0 || count > kInnerChildrenMax) return is_none(source);
  const auto node = std::span(image_).first(kNodeHeaderWords + inner_content_words(count));
  if (!source.copy(ref_, node)) return false;
  // The number may have changed since it was looked at.
  return (kind_of(node[0]) == tree_inner_kind(level) && children() == count) || is_none(source);
}

bool TreeNode::is_none(const NodeSource& source) const {
  source.report("a node that is none of the ordered tree", offset_of(ref_));
  return false;
}

// ---- Searching -----------------------------------------------------------------------------------------------------

// The key against a separator.
std::optional<std::strong_ordering> TreeNode::compare(const NodeSource& source, std::size_t separator,
                                                      std::string_view key) const {
  KeyNode node;
  if (!node.read(source, this->separator(separator))) return std::nullopt;
  const auto order = node.compare(source, key);
  if (!order) return std::nullopt;
  return 0 <=> *order;
}

std::optional<std::size_t> TreeNode::child_for(const NodeSource& source, std::string_view key) const {
  const std::size_t separators = children() - 1;
  if (separators == 0) return 0;
  if (prefix_bytes() > fence_bytes() && INGOT_RULE("prefix-compared")) {
    KeyNode any;
    std::string scratch;
    if (!any.read(source, separator(0))) return std::nullopt;
    const auto bytes = any.key(source, scratch);
    if (!bytes) return std::nullopt;
    const auto order = key.substr(0, prefix_bytes()) <=> bytes->substr(0, prefix_bytes());
    if (order != 0) return order < 0 ? 0 : separators;
  }
  // From `first` to `last` separators have the key's head; those before are below the key, and those behind above it.
  const std::uint32_t head = head_of(key, prefix_bytes());
  std::size_t first = 0, last = separators;
  for (std::size_t end = separators; first < end;) {
    const std::size_t middle = (first + end) / 2;
    this->head(middle) < head ? first = middle + 1 : end = middle;
  }
  for (std::size_t begin = first; begin < last;) {
    const std::size_t middle = (begin + last) / 2;
    this->head(middle) <= head ? begin = middle + 1 : last = middle;
  }
  if (!INGOT_RULE("heads-tell-little")) return last;
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    const auto order = compare(source, middle, key);
    if (!order) return std::nullopt;
    *order >= 0 ? first = middle + 1 : last = middle;
  }
  return first;
}

namespace {

// Entries with the same tag. Their keys are read twice: for what all begin with, and for the bytes behind that.
class Tied {
 public:
  Tied(const NodeSource& source, std::span<LeafEntry> entries) : source_(source), entries_(entries) {}

  bool sort() {
    if (!set_bytes()) return false;
    for (std::size_t sorted = 1; sorted < entries_.size(); ++sorted) {
      for (std::size_t i = sorted; i > 0; --i) {
        const auto order = compare(i - 1, i);
        if (!order) return false;
        if (*order <= 0) break;
        std::swap(entries_[i - 1], entries_[i]);
        std::swap(bytes_[i - 1], bytes_[i]);
      }
    }
    return true;
  }

 private:
  bool set_bytes() {
    KeyNode first, node;
    std::string first_scratch, scratch;
    if (!first.read(source_, entries_[0].key)) return false;
    const auto key = first.key(source_, first_scratch);
    if (!key) return false;
    std::size_t common = key->size();
    for (std::size_t pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (!node.read(source_, entries_[i].key)) return false;
        const auto other = node.key(source_, scratch);
        if (!other) return false;
        if (pass == 0) common = std::min(common, common_bytes(*key, *other));
        bytes_[i] = std::uint64_t{key_bytes_at(*other, common, 4)} << 32 | key_bytes_at(*other, common + 4, 4);
      }
    }
    return true;
  }

  std::optional<std::strong_ordering> compare(std::size_t a, std::size_t b) const {
    if (bytes_[a] != bytes_[b]) return bytes_[a] <=> bytes_[b];
    KeyNode node, other;
    std::string scratch;
    if (!node.read(source_, entries_[b].key) || !other.read(source_, entries_[a].key)) return std::nullopt;
    const auto key = node.key(source_, scratch);
    return key ? other.compare(source_, *key) : std::nullopt;
  }

  const NodeSource& source_;
  std::span<LeafEntry> entries_;
  std::array<std::uint64_t, kLeafEntries + 1> bytes_{};  // the new key of a full leaf is among them
};

// By counting for each entry how many come before it: no branch depends on a tag, and the compiler takes four at once.
void sort_by_tag(std::span<LeafEntry> entries) {
  constexpr std::size_t kPlaces = (kLeafEntries + 1 + 7) / 8 * 8;
  std::array<std::int32_t, kPlaces> order;  // the tag, and the place among equal ones
  std::array<LeafEntry, kLeafEntries + 1> sorted;
  order.fill(std::numeric_limits<std::int32_t>::max());
  for (std::size_t i = 0; i < entries.size(); ++i) order[i] = entries[i].tag << 8 | static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::int32_t before = 0;
    for (std::size_t other = 0; other < kPlaces; ++other) before += order[other] < order[i] ? 1 : 0;
    sorted[static_cast<std::size_t>(before)] = entries[i];
  }
  std::copy_n(sorted.begin(), entries.size(), entries.begin());
}

}  // namespace

bool LeafEntry::sort(const NodeSource& source, std::span<LeafEntry> entries) {
  sort_by_tag(entries);
  if (!INGOT_RULE("tags-tell-little")) return true;
  for (std::size_t begin = 0, end; begin < entries.size(); begin = end) {
    for (end = begin + 1; end < entries.size() && entries[end].tag == entries[begin].tag;) ++end;
    if (end - begin > 1 && !Tied(source, entries.subspan(begin, end - begin)).sort()) return false;
  }
  return true;
}

}  // namespace ingot::replication_view_index
