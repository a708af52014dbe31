// What one connection may send that carries nothing for a call: frames, pings, resets, header bytes.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "services/rpc/server/bounds.h"

namespace ingot::rpc::inline server {

// A rate limit: a number at once, and a number a second. Not thread-safe.
class Allowance {
 public:
  Allowance(int burst, int per_second) : burst_(burst), per_second_(per_second), left_(burst) {}

  // Returns whether there was enough.
  bool take(int number, std::uint64_t now_ns) {
    if (left_ < number) refill(now_ns);
    left_ -= number;
    return left_ >= 0;
  }
  void give(std::int64_t number) { left_ = std::min(left_ + number, burst_); }

 private:
  // Only when needed: an ordinary connection never gets here.
  void refill(std::uint64_t now_ns) {
    constexpr std::uint64_t kSecondNs = 1'000'000'000;
    const std::uint64_t passed_ns = filled_ns_ == 0 ? 0 : std::min(now_ns - filled_ns_, 3'600 * kSecondNs);
    const std::uint64_t number = passed_ns * static_cast<std::uint64_t>(per_second_) / kSecondNs;
    if (filled_ns_ == 0 || number > 0) filled_ns_ = now_ns;
    give(static_cast<std::int64_t>(number));
  }

  std::int64_t burst_;
  std::int64_t per_second_;
  std::int64_t left_;
  std::uint64_t filled_ns_ = 0;
};

// Each function that returns a text has found a flood: the connection ends with ENHANCE_YOUR_CALM and that text. Null:
// all is well. Not thread-safe.
class FloodGuard {
 public:
  explicit FloodGuard(const ServerBounds& bounds)
      : ping_interval_ns_(bounds.ping_interval_min_ms * 1'000'000),
        frames_(bounds.idle_frames_burst, bounds.idle_frames_per_second),
        resets_(bounds.resets_burst, bounds.resets_per_second) {}

  const char* frame_begins(const nghttp2_frame_hd& header, std::uint64_t now_ns);
  // A field of the block that has begun last, with so many bytes of name and value.
  const char* field(std::size_t bytes);
  const char* ping(std::uint64_t now_ns);
  const char* reset(std::uint64_t now_ns) { return resets_.take(1, now_ns) ? nullptr : "too_many_resets"; }

  void call_begins() { frames_.give(kIdleFramesPerCall); }
  void message_sent() { earn(kIdleFramesPerMessage); }
  void call_answered() { resets_.give(1); }
  void frame_sent(bool of_call) {
    if (of_call) ping_strikes_ = 0, pinged_ns_ = 0;  // as gRPC C++: data in between forgives
  }
  void bytes_sent(std::size_t bytes);

 private:
  void earn(std::int64_t frames) { earned_frames_ = std::min(earned_frames_ + frames, kIdleFramesEarnedMax); }
  bool take_frames(int number, std::uint64_t now_ns);

  const std::uint64_t ping_interval_ns_;
  Allowance frames_;
  std::int64_t earned_frames_ = 0;  // by what was sent
  Allowance resets_;
  std::size_t header_block_bytes_ = 0;
  std::size_t unfolded_bytes_ = 0;  // of the same block
  std::size_t sent_bytes_ = 0;  // below a KiB
  std::uint64_t pinged_ns_ = 0;
  int ping_strikes_ = 0;
};

}  // namespace ingot::rpc::server
