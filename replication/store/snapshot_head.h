// The first bytes of a store's snapshot, for programs that pass one on without loading it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "replication/store/api.h"

namespace ingot::kv {

struct SnapshotHead {
  Revision revision = 0;
  Revision compacted = -1;   // -1: never
  std::uint64_t records = 0;  // keys that have versions, deleted ones included
};

inline constexpr std::size_t kSnapshotHeadBytes = 3 * 8 + 1 + 2 * 8;

// Nothing unless KvStore::save writes bytes that begin like these.
std::optional<SnapshotHead> read_snapshot_head(std::string_view snapshot);

}  // namespace ingot::kv
