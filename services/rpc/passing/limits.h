// Bounds of calls that are passed on, and what happens at them.
#pragma once

#include <cstddef>

namespace ingot::rpc {

// Calls that are passed on at a time, of all connections of one door (TCP, Unix socket), and of one caller (a TCP
// connection, or a process at the Unix socket). Beyond, a call is refused with RESOURCE_EXHAUSTED. The doors are counted
// apart, so that strangers cannot lock out whoever may use the socket.
inline constexpr int kPassedCallsMax = 1024;
inline constexpr int kPassedCallsPerCallerMax = 256;

// Metadata of a client that is passed on with one call, in bytes of names and values; the rest is dropped.
inline constexpr std::size_t kPassedMetadataBytesMax = 8 * 1024;

static_assert(kPassedCallsPerCallerMax <= kPassedCallsMax);

}  // namespace ingot::rpc
