// Bounds of the gRPC server, and what happens when one is reached.
#pragma once

#include <cstddef>

#include "replication/requests/limits.h"

namespace ingot {

inline constexpr int kPingIntervalMinMs = 5000;          // as etcd; clients that ping more often are disconnected
inline constexpr int kAcceptPauseMs = 100;             // out of descriptors or memory: before it is tried again
inline constexpr int kStreamsPerConnectionMax = 1024;    // concurrent calls of a connection; more wait at the client
inline constexpr std::size_t kGrpcReceiveBytesMax = kRequestBytesMax + 512 * 1024;  // as etcd; then gRPC's own error

}  // namespace ingot
