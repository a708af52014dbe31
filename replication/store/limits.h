// Bounds of the key-value store, with their units, and what happens at the limit.
#pragma once

#include <cstddef>

#include "core/limits.h"
#include "replication/requests/limits.h"

namespace ingot {

inline constexpr int kTxnOperationsMax = 128;   // etcd's --max-txn-ops: "too many operations in txn request"
inline constexpr int kTxnDepthMax = 16;         // nested transactions; deeper ones are refused
inline constexpr std::size_t kPageBytesMax = 1024 * 1024;  // one page of a range's answer; the reader asks for the next
// The answer to one request of the store; one that would be longer is refused before anything is changed.
inline constexpr std::size_t kResultBytesMax = 3 * 1024 * 1024;
inline constexpr int kCompactionStepVersions = 128;  // superseded versions that one command frees; the rest waits
inline constexpr int kKeyIndexPartsLog2 = 10;  // the index of keys has 1,024 tables (replication/store/key_index.h)

static_assert(kPageBytesMax + kRequestBytesMax < kResultBytesMax, "the last value of a page may be a large one");
static_assert(kResultBytesMax < kMessageBytesMax, "a message holds the largest answer with its header");

}  // namespace ingot
