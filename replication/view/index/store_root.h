// The scalars and first references of one state of the store: its part of a heap's root.
#pragma once

#include <cstdint>

#include "replication/view/heap/root.h"
#include "replication/view/index/hash_index.h"
#include "replication/view/index/revision_log.h"
#include "replication/view/index/tree_cursor.h"
#include "replication/view/index/version_node.h"

namespace ingot::inline replication_view_index {

struct StoreRoot {
  StoreRevision revision = 1;   // as in etcd: an empty store is at revision 1
  StoreRevision compacted = 0;  // reads below it are refused
  std::uint64_t live_keys = 0;  // keys whose newest version is no tombstone
  VersionSum added;             // all versions ever
  HashRoot hash;
  TreeRoot tree;
  LogRoot log;

  // The versions that compaction has not removed, whether or not they are freed: the same on every replica.
  VersionSum held() const { return added - log.dropped_at_cut; }
  bool operator==(const StoreRoot&) const = default;
};
static_assert(sizeof(StoreRoot) <= kRootUserWordsMax * kWordBytes);

}  // namespace ingot::replication_view_index
