// An inner node of the ordered tree while it is made: changed from another one, which stays as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replication/view/heap/layout.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/index/tree_node.h"

namespace ingot::inline replication_view_index {

// The bytes of a key node; nothing, and damage: it is none.
std::optional<std::string> key_at(const NodeSource& source, HeapRef key);

// Not thread-safe. It has room for one child more than a node.
class InnerEdit {
 public:
  InnerEdit() = default;
  // With one child. `fence_bytes`: of the node (tree_node.h).
  InnerEdit(std::size_t fence_bytes, HeapRef child)
      : size_(1), fence_(fence_bytes), prefix_(fence_bytes), children_{child} {}
  explicit InnerEdit(const TreeNode& node);

  std::size_t size() const { return size_; }
  HeapRef child(std::size_t i) const { return children_[i]; }
  void set_child(std::size_t i, HeapRef child) { children_[i] = child; }

  // Puts a child behind child i, from that separator on, whose bytes are `key`. False: damage.
  bool add(const NodeSource& source, std::size_t i, HeapRef separator, std::string_view key, HeapRef child);

  // Makes one of two missing children side by side. Returns the separator between them; nothing: there are none such.
  std::optional<HeapRef> join_missing();

  // Moves the children from `from` on to `right`, which has none yet. Returns the separator between them, which is
  // neither's. set_fence_bytes() of both follows. REQUIRES: 0 < from < size().
  HeapRef split(std::size_t from, InnerEdit& right);

  // Once the fences have changed: the fence bytes, and all that follows from them. False: damage.
  bool set_fence_bytes(const NodeSource& source, std::size_t bytes);

  // The node's content. The span ends with the next change.
  std::span<const std::uint64_t> content();

 private:
  bool set_heads(const NodeSource& source);
  void drop(std::size_t i);

  std::size_t size_ = 0;
  std::size_t fence_ = 0;
  std::size_t prefix_ = 0;
  std::array<HeapRef, kInnerChildrenMax + 1> children_{};
  std::array<std::uint32_t, kInnerChildrenMax> heads_{};
  std::array<HeapRef, kInnerChildrenMax> separators_{};
  std::array<std::uint64_t, inner_content_words(kInnerChildrenMax)> content_{};
};

}  // namespace ingot::replication_view_index
