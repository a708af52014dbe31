// Bounds of a session client: requests in flight, timeouts and retries, with their units, and what happens at them.
#pragma once

#include <cstddef>

#include "replication/replica/limits.h"

namespace ingot {

inline constexpr int kFrontEndRequestsMax = 8 * 1024;  // in flight; at the limit "too many requests"
inline constexpr std::size_t kFrontEndBytesMax = 64 * 1024 * 1024;  // of those requests; likewise
inline constexpr int kRequestTimeoutMs = 7000;  // as etcd: then "request timed out", and the outcome is unknown
inline constexpr int kRetryMs = 250;            // without an answer before a request is sent again, then twice that,
inline constexpr int kRetryDoublings = 3;       // and so on, so many times
inline constexpr int kRetryScanMs = 50;         // between two looks for requests to send again
inline constexpr int kQuietMs = 1000;           // without requests before the front end stops looking

static_assert(kFrontEndRequestsMax < kSessionWindow);
static_assert(kRetryMs < kRequestTimeoutMs);

}  // namespace ingot
