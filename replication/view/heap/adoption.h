// How an incarnation takes over a chain: in constant time, whatever its predecessor left.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/view/heap/chain.h"
#include "replication/view/heap/layout.h"
#include "replication/view/heap/root.h"

namespace ingot::inline replication_view_heap {

struct Adopted {
  HeapRoot root;
  std::uint64_t tag;          // the newest one that was used
  std::uint64_t incarnation;  // this one's; even
  std::uint64_t put_back;     // undo entries
};

// Writes the identity and the first root, whose scalars are all 0. REQUIRES: the memory is zero-filled. Errors:
// INVALID_ARGUMENT (no room for an extent, or more than kHeapBytesMax).
absl::StatusOr<Adopted> create_chain(Chain chain, const HeapIdentity& identity);

// Checks a chain, puts back what no root has published, and lets readers in again. May be repeated by a successor
// wherever it ends. Once a check fails nothing is written. REQUIRES: the former writer has ended. Errors: NOT_FOUND (no
// root was published yet), FAILED_PRECONDITION (another layout, replica or chain), DATA_LOSS (damaged).
absl::StatusOr<Adopted> adopt_chain(Chain chain, const HeapIdentity& identity);

// The same without the writer's part: whether this is that chain.
absl::Status check_identity(const Chain& chain, const HeapIdentity& identity);

}  // namespace ingot::replication_view_heap
