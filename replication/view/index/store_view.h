// What readers of one state of the store have in common: the writer, at its own state or at a pinned one, and other
// processes, at the root that they have begun with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "replication/view/index/store_root.h"
#include "replication/view/index/version_node.h"

namespace ingot::inline replication_view_index {

// One change, for those who follow the log. The views end with the call that got them.
struct StoreEvent {
  std::string_view key;
  std::string_view value;  // empty for a deletion
  const VersionFields& version;
};

// Not thread-safe. `source` sees what may be newer than the root, or garbage if the root's memory was used again.
class StoreView {
 public:
  StoreView(const NodeSource& source, const StoreRoot& root) : source_(source), root_(root) {}

  // A key's node, by the hash index, or by the ordered tree; none if it is not there. Nothing: garbage.
  std::optional<HeapRef> find(std::string_view key) const;
  std::optional<HeapRef> find_in_tree(std::string_view key) const;
  // The version of a key's node in force at a revision; a deleted key has none. REQUIRES: compacted <= revision.
  VersionFound get(HeapRef key, StoreRevision revision, VersionNode& found) const;

  // Calls visit(key, version) for the keys from `begin` on, and below `end` unless it is none, that exist at a
  // revision, in their order, until it returns false. False: garbage. REQUIRES: compacted <= revision.
  bool range(std::string_view begin, std::optional<std::string_view> end, StoreRevision revision,
             absl::FunctionRef<bool(std::string_view, const VersionNode&)> visit) const;

  // Calls visit(event) for the changes from a revision on, oldest first, until it returns false or there are no more.
  // False: garbage. REQUIRES: compacted < revision.
  bool events(StoreRevision revision, absl::FunctionRef<bool(const StoreEvent&)> visit) const;

  // Whether a key that the hash index lacks does not exist, as far as splits of buckets matter.
  bool miss_counts() const { return HashIndex::miss_counts(source_, root_.hash); }

  const StoreRoot& root() const { return root_; }
  const NodeSource& source() const { return source_; }

 private:
  NodeSource source_;
  StoreRoot root_;
};

}  // namespace ingot::replication_view_index
