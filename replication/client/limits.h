// Bounds of a session client: requests in flight, timeouts and retries, with their units, and what happens at the
// limit.
#pragma once

#include <cstddef>

#include "replication/replica/limits.h"

namespace ingot::inline replication_client {

inline constexpr int kFrontEndRequestsMax = 8 * 1024;  // in flight; at the limit "too many requests"
inline constexpr std::size_t kFrontEndBytesMax = 64 * 1024 * 1024;  // of those requests; likewise
inline constexpr int kRequestTimeoutMs = 7000;  // as etcd: then "request timed out", and the outcome is unknown
inline constexpr int kRetryMs = 250;            // without an answer before a request is sent again; then doubled
// For so long the session keeps away from a replica that the kernel has reported stopped, unless it hears of it again.
// Then it believes what the other replicas say: they may still follow that one.
inline constexpr int kDoubtMs = 250;
inline constexpr int kRetryDoublings = 3;       // how often the time between two retries doubles
inline constexpr int kRetryScanMs = 50;         // between two scans for requests to send again
inline constexpr int kQuietMs = 1000;           // without requests before the front end stops scanning

static_assert(kFrontEndRequestsMax < kSessionWindow);
static_assert(kRetryMs < kRequestTimeoutMs);

}  // namespace ingot::replication_client
