#include "replication/view/index/tree_edit.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/rule.h"
#include "replication/view/index/key_node.h"

namespace ingot::inline replication_view_index {

std::optional<std::string> key_at(const NodeSource& source, HeapRef key) {
  KeyNode node;
  std::string scratch;
  if (!node.read(source, key)) return std::nullopt;
  const auto bytes = node.key(source, scratch);
  if (!bytes) return std::nullopt;
  return std::string(*bytes);
}

InnerEdit::InnerEdit(const TreeNode& node)
    : size_(node.children()), fence_(node.fence_bytes()), prefix_(node.prefix_bytes()) {
  for (std::size_t i = 0; i < size_; ++i) children_[i] = node.child(i);
  for (std::size_t i = 0; i + 1 < size_; ++i) {
    heads_[i] = node.head(i);
    separators_[i] = node.separator(i);
  }
}

bool InnerEdit::add(const NodeSource& source, std::size_t i, HeapRef separator, std::string_view key, HeapRef child) {
  INGOT_CHECK(size_ <= kInnerChildrenMax);
  std::copy_backward(children_.begin() + i + 1, children_.begin() + size_, children_.begin() + size_ + 1);
  std::copy_backward(separators_.begin() + i, separators_.begin() + size_ - 1, separators_.begin() + size_);
  std::copy_backward(heads_.begin() + i, heads_.begin() + size_ - 1, heads_.begin() + size_);
  children_[i + 1] = child;
  separators_[i] = separator;
  heads_[i] = head_of(key, prefix_);
  ++size_;
  // The prefix may be shorter than it need be: the first separator alone made it so, and dropped ones did. Hence it is
  // looked at again now and then.
  if (std::has_single_bit(size_)) return set_heads(source);
  if (prefix_ == fence_) return true;
  const auto other = key_at(source, separators_[i == 0 ? size_ - 2 : 0]);
  if (!other) return false;
  if (common_bytes(*other, key) >= prefix_ || !INGOT_RULE("prefix-shortens")) return true;
  return set_heads(source);
}

void InnerEdit::drop(std::size_t i) {
  std::copy(children_.begin() + i + 1, children_.begin() + size_, children_.begin() + i);
  std::copy(separators_.begin() + i, separators_.begin() + size_ - 1, separators_.begin() + i - 1);
  std::copy(heads_.begin() + i, heads_.begin() + size_ - 1, heads_.begin() + i - 1);
  --size_;
}

std::optional<HeapRef> InnerEdit::join_missing() {
  for (std::size_t i = 1; i < size_; ++i) {
    if (children_[i - 1] != HeapRef() || children_[i] != HeapRef()) continue;
    const HeapRef separator = separators_[i - 1];
    drop(i);
    return separator;
  }
  return std::nullopt;
}

HeapRef InnerEdit::split(std::size_t from, InnerEdit& right) {
  right.size_ = size_ - from;
  std::copy(children_.begin() + from, children_.begin() + size_, right.children_.begin());
  std::copy(separators_.begin() + from, separators_.begin() + size_ - 1, right.separators_.begin());
  size_ = from;
  return separators_[from - 1];
}

bool InnerEdit::set_fence_bytes(const NodeSource& source, std::size_t bytes) {
  fence_ = bytes;
  return set_heads(source);
}

// The prefix is what the first and the last separator begin with. One alone tells nothing of those to come.
bool InnerEdit::set_heads(const NodeSource& source) {
  prefix_ = fence_;
  const std::size_t separators = size_ - 1;
  if (separators > 1) {
    const auto first = key_at(source, separators_[0]);
    const auto last = key_at(source, separators_[separators - 1]);
    if (!first || !last) return false;
    prefix_ = prefix_of(*first, *last);
  }
  for (std::size_t i = 0; i < separators; ++i) {
    const auto key = key_at(source, separators_[i]);
    if (!key) return false;
    heads_[i] = head_of(*key, prefix_);
  }
  return true;
}

std::span<const std::uint64_t> InnerEdit::content() {
  INGOT_CHECK(size_ > 0 && size_ <= kInnerChildrenMax);
  const std::span<std::uint64_t> content = std::span(content_).first(inner_content_words(size_));
  std::fill(content.begin(), content.end(), 0);
  content[0] = fence_ | prefix_ << 16 | std::uint64_t{size_} << 32;
  std::size_t item = 0;
  const auto put = [&](std::uint32_t value) {
    content[1 + item / 2] |= std::uint64_t{value} << item % 2 * 32;
    ++item;
  };
  for (std::size_t i = 0; i < size_; ++i) put(children_[i].value());
  for (std::size_t i = 0; i + 1 < size_; ++i) put(heads_[i]);
  for (std::size_t i = 0; i + 1 < size_; ++i) put(separators_[i].value());
  return content;
}

}  // namespace ingot::replication_view_index
