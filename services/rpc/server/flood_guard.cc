#include "services/rpc/server/flood_guard.h"

namespace ingot::rpc::inline server {
namespace {

constexpr std::size_t kTinyDataBytes = 64;  // a DATA frame that is shorter, and not the last one, carries too little

int weight_of(const nghttp2_frame_hd& header) {
  switch (header.type) {
    case NGHTTP2_DATA:
      return header.length < kTinyDataBytes && (header.flags & NGHTTP2_FLAG_END_STREAM) == 0 ? 1 : 0;
    case NGHTTP2_HEADERS:
      return 0;  // a call: counted by other bounds
    case NGHTTP2_SETTINGS:
      return (header.flags & NGHTTP2_FLAG_ACK) != 0 ? 1 : kSettingsFrameWeight;
    default:
      return 1;
  }
}

}  // namespace

const char* FloodGuard::frame_begins(const nghttp2_frame_hd& header, std::uint64_t now_ns) {
  if (header.type == NGHTTP2_HEADERS) {
    header_block_bytes_ = header.length;
    unfolded_bytes_ = 0;
  }
  if (header.type == NGHTTP2_CONTINUATION) header_block_bytes_ += header.length;
  if (header_block_bytes_ > kHeaderBlockBytesMax) return "too_large_header_block";
  const int weight = weight_of(header);
  return weight == 0 || take_frames(weight, now_ns) ? nullptr : "too_many_frames";
}

bool FloodGuard::take_frames(int number, std::uint64_t now_ns) {
  if (earned_frames_ < number) return frames_.take(number, now_ns);
  earned_frames_ -= number;
  return true;
}

const char* FloodGuard::field(std::size_t bytes) {
  unfolded_bytes_ += bytes;
  return unfolded_bytes_ > kHeaderBlockBytesMax ? "too_large_header_block" : nullptr;
}

const char* FloodGuard::ping(std::uint64_t now_ns) {
  const bool early = pinged_ns_ != 0 && now_ns < pinged_ns_ + ping_interval_ns_;
  pinged_ns_ = now_ns;
  if (early) ++ping_strikes_;
  return ping_strikes_ > kPingStrikesMax ? "too_many_pings" : nullptr;
}

void FloodGuard::bytes_sent(std::size_t bytes) {
  sent_bytes_ += bytes;
  earn(static_cast<std::int64_t>(sent_bytes_ / 1024) * kIdleFramesPerKiB);
  sent_bytes_ %= 1024;
}

}  // namespace ingot::rpc::server
