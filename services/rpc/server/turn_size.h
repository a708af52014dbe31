// How many bytes a connection's time slice may read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "services/rpc/server/limits.h"

namespace ingot::rpc::inline server {

// Learns from a connection's time slices how many bytes keep the next one within kTurnUs: a KiB of a body is copied in
// less than a microsecond, and a KiB of calls or of header blocks may make half a millisecond of work. Not thread-safe.
class TurnSize {
 public:
  std::size_t bytes() const { return bytes_; }

  // A time slice read `bytes`, and the work that they made took `ns`. The next time slice is longer only if this one
  // read all that it might, in a short time. A time slice may have taken long because the thread waited for a
  // processor, so the next one is at least half as long.
  void took(std::size_t bytes, std::uint64_t ns) {
    constexpr std::uint64_t kTurnNs = kTurnUs * 1'000;
    if (ns > kTurnNs) {
      const std::size_t fitting = std::max(bytes * kTurnNs / ns, std::uint64_t{bytes_} / 2);
      bytes_ = static_cast<std::uint32_t>(std::clamp<std::size_t>(fitting, kTurnBytesMin, bytes_));
    } else if (bytes >= bytes_ && 2 * ns <= kTurnNs) {
      bytes_ = std::min<std::uint32_t>(2 * bytes_, kLoneTurnBytes);
    }
  }

 private:
  std::uint32_t bytes_ = kFirstTurnBytes;
};

}  // namespace ingot::rpc::server
