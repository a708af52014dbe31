// Bounds of requests and of batches, with their units, and what happens at the limit.
#pragma once

#include <cstddef>

#include "core/limits.h"

namespace ingot::inline replication_requests {

inline constexpr std::size_t kRequestBytesMax = 1536 * 1024;  // a client's request, as in etcd: "request is too large"
// A query that goes on has a position besides, which is a key.
inline constexpr std::size_t kQueryBytesMax = 2 * kRequestBytesMax + 1024;
inline constexpr std::size_t kBatchBytesMax = 2 * 1024 * 1024;     // commands that one slot agrees on; the rest waits
inline constexpr int kBatchCommandsMax = 1024;                     // commands that one slot agrees on; the rest waits

static_assert(kRequestBytesMax < kBatchBytesMax, "a batch holds the largest request with its header");
static_assert(kQueryBytesMax + 1024 < kMessageBytesMax, "a message holds the longest query with its header");
static_assert(kBatchBytesMax < kMessageBytesMax, "a message holds the largest batch with its header");

}  // namespace ingot::replication_requests
