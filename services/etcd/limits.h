// Bounds of etcd's API, and what happens when one is reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline services_etcd {

// Bytes of keys and values in one Range answer, which the front end assembles from pages. A larger answer is refused;
// the caller can ask with a limit.
inline constexpr std::size_t kRangeBytesMax = 64 * 1024 * 1024;
// A longer request or answer gets a message of its own, so that a loop's reused messages keep little memory.
inline constexpr std::size_t kReusedMessageBytesMax = 16 * 1024;
// Of a Range or hash that compactions overtake between its steps; then "unavailable".
inline constexpr int kReadRestartsMax = 8;
// A read of many keys is asked for in steps (services/etcd/long_reads.h). Its first one comes at once, with others of
// many clients, and looks at so many keys or versions; the others at as many as the store allows.
inline constexpr std::uint32_t kFirstStepEntries = 256;
inline constexpr int kLongReadStepsAtOnce = 1;  // of a loop; others wait for their turn
// Memory of results that are sorted before they are sent; more are refused, the caller can ask with a limit.
inline constexpr std::size_t kSortBytesMax = 2 * kRangeBytesMax;
// Keep-alives of leases (services/etcd/keep_alives.h). At a bound a stream's messages are not read until the next
// answer: of its own without an answer, and of all of a loop that are not sent to the replicas.
inline constexpr std::size_t kKeepAlivesOfStreamMax = 64;
inline constexpr std::size_t kKeepAlivesWaitingMax = 64 * 1024;
// Bytes of answers that a client does not take: likewise, until it does.
inline constexpr std::size_t kKeepAliveOutputBytesMax = 4 * 1024;

}  // namespace ingot::services_etcd
