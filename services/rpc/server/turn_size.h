// How much a connection's turn may read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "services/rpc/server/limits.h"

namespace ingot::rpc::inline server {

// Learns from the turns before how many bytes keep a connection's turn within kTurnUs: a KiB of a body is copied in less
// than a microsecond, and a KiB of calls or of header blocks may make half a millisecond of work. Not thread-safe.
class TurnSize {
 public:
  std::size_t bytes() const { return bytes_; }

  // A turn read `bytes`, and what they made took `ns`. Longer turns follow only one that was full and short. A turn may
  // have taken long because it waited for a processor, so the next one is half as long at least.
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
