// A reader of a chain: of the writer's process or another one; it never writes.
//
// It begins at a root, follows words and nodes, which may be newer than the root or garbage, and asks at the end
// whether what it has read counts. If not, nothing of it does, and it begins again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "replication/view/heap/adoption.h"
#include "replication/view/heap/chain.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/heap/nodes.h"
#include "replication/view/heap/root.h"

namespace ingot::inline replication_view_heap {

// Not thread-safe; one for each thread. Whatever the memory's bytes, no call reads outside of it or fails to end.
class HeapReader {
 public:
  // `memory` outlives the reader. Errors: as check_identity.
  static absl::StatusOr<HeapReader> open(std::span<const std::byte> memory, const HeapIdentity& identity);

  // The newest root, from which the read goes on; nothing: an adopter is putting words back, or the writer has
  // overtaken this reader kRootReadsMax times.
  std::optional<HeapRoot> begin();

  // Whether what was read since begin() is what that root reaches: nothing of it was used again meanwhile.
  bool counts() const;

  // The content of a word; nothing: outside of the memory, or not a word of this place.
  std::optional<std::uint64_t> content(std::uint64_t offset) const;

  // Copies a node, or a part from its beginning on, each word once. False: it is outside of the extents.
  bool copy(HeapRef ref, std::span<std::uint64_t> node) const;

  // The same reads for code that the writer shares.
  NodeSource nodes() const { return {chain_, nullptr}; }

 private:
  explicit HeapReader(Chain chain)
      : chain_(chain), first_offset_(first_extent_offset(extents_in(chain.size()))) {}

  Chain chain_;
  std::uint64_t first_offset_;
  std::uint64_t number_ = 0;
  std::uint64_t incarnation_ = 0;
};

}  // namespace ingot::replication_view_heap
