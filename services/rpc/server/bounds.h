// The bounds of a server as values, so that tests can narrow them; limits.h says what each means.
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/rpc/server/limits.h"

namespace ingot::rpc::inline server {

struct ServerBounds {
  int connections = kConnectionsMax;  // besides, no more than RLIMIT_NOFILE leaves
  std::uint64_t uncalled_grace_ms = kUncalledGraceMs;
  std::uint64_t preface_timeout_ms = kPrefaceTimeoutMs;
  int streams_per_connection = kStreamsPerConnectionMax;
  int streaming_calls = kStreamingCallsMax;
  int streaming_calls_all = kStreamingCallsAllMax;
  std::size_t message_bytes = kGrpcReceiveBytesMax;
  std::size_t head_bytes = kHeadBytesMax;
  std::size_t json_response_bytes = kJsonResponseBytesMax;
  int calls_taken_on = kCallsTakenOnMax;
  int large_calls = kLargeCallsMax;
  std::size_t unknown_bytes = kUnknownBytesMax;
  std::size_t received_bytes_low = kReceivedBytesLow;
  std::size_t received_bytes = kReceivedBytesMax;
  std::size_t received_bytes_all = kReceivedBytesAllMax;
  std::size_t held_bytes = kHeldBytesMax;
  std::size_t held_bytes_spare = kHeldBytesSpare;
  std::size_t held_bytes_own = kHeldBytesOwn;
  std::size_t output_begin_bytes = kOutputBeginBytesMax;
  std::size_t output_bytes = kOutputBytesMax;
  std::size_t output_bytes_all = kOutputBytesAllMax;
  std::uint64_t stalled_write_ms = kStalledWriteMs;
  std::uint64_t stalled_under_pressure_ms = kStalledUnderPressureMs;
  std::uint64_t stalled_end_ms = kStalledEndMs;
  std::uint64_t ping_interval_min_ms = kPingIntervalMinMs;
  int idle_frames_burst = kIdleFramesBurst;
  int idle_frames_per_second = kIdleFramesPerSecond;
  int resets_burst = kResetsBurst;
  int resets_per_second = kResetsPerSecond;
  std::uint64_t drain_notice_ms = kDrainNoticeMs;
  std::uint64_t http1_request_timeout_ms = kHttp1RequestTimeoutMs;
};

}  // namespace ingot::rpc::server
