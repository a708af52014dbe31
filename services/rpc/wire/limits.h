// Bounds of gRPC's wire format, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::rpc::inline wire {

inline constexpr std::size_t kPrefixBytes = 5;          // before each message: a flag and its length
inline constexpr int kTimeoutDigitsMax = 8;             // of grpc-timeout; more are malformed
inline constexpr std::size_t kInflateStep = 16 * 1024;  // bytes by which an inflated message grows, up to its bound
inline constexpr std::size_t kReserveBytes = 64 * 1024;  // of an incomplete message; beyond it, all is reserved

}  // namespace ingot::rpc::wire
