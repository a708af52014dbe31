// Bounds of gRPC's client side, and what happens when one is reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::rpc::client {

inline constexpr int kReconnectPauseMs = 20;      // between attempts to connect; doubled with each one that fails,
inline constexpr int kReconnectPauseMsMax = 200;  // up to this
inline constexpr int kConnectTimeoutMs = 5000;    // of an attempt, until the server's settings are there; then the next

inline constexpr std::size_t kCallsMax = 64 * 1024;  // open calls of a channel; more end with RESOURCE_EXHAUSTED
inline constexpr std::size_t kDrainingMax = 4;       // connections that only finish their calls; if there are more, the
                                                     // oldest one's calls end with UNAVAILABLE
inline constexpr std::uint64_t kConnectionCallsMax = std::uint64_t{1} << 29;  // begun on one connection; then a new one
                                                                              // takes its place (HTTP/2 has 2^30)

inline constexpr std::size_t kInputBytes = 64 * 1024;    // of one read
inline constexpr std::size_t kOutputBytes = 256 * 1024;  // made before they are sent; the rest waits in its calls
inline constexpr std::size_t kKeptBytes = 64 * 1024;     // of memory that a finished call's buffer keeps for the next
inline constexpr int kStreamWindowBytes = 1024 * 1024;   // that a server may send ahead on one call; then it waits
inline constexpr int kConnectionWindowBytes = 8 * 1024 * 1024;    // the same, on all calls of a connection together
inline constexpr std::size_t kAnswerBytesMax = 64 * 1024 * 1024;  // of one answer, unless the channel's options say
                                                                  // otherwise; larger: RESOURCE_EXHAUSTED
inline constexpr std::size_t kStatusTextBytesMax = 8 * 1024;      // of a status's text; the rest is cut off
inline constexpr std::size_t kUnixPathBytesMax = 107;             // of a socket's path; the kernel takes no more

}  // namespace ingot::rpc::client
