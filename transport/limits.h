// Bounds of channels, with their units, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"

namespace ingot::inline transport {

inline constexpr int kProbeMessagesMax = 256;  // messages that one probe hands out before it returns to its loop
inline constexpr int kChannelEndpointsMax = 512;  // endpoints that one channel can connect; more is a bug (CHECK)
inline constexpr int kNvpSlotsPerSender = 64;     // lines one sender may have unread in one inbox; then "full"
inline constexpr int kSrbpSlotsPerSender = 64;    // likewise for SRBP, whose senders share one ring
// Beside each of these lines on the host, for a long part of a message: touched only when one is sent, so at most 1 MiB
// of memory for each pair of endpoints that exchange such messages.
inline constexpr std::uint32_t kNvpBulkBytes = 16 * 1024;
// From this length on a part of a message lies beside its line, where there is room.
inline constexpr std::size_t kBulkFromBytes = 1024;
// How soon an SRBP receiver works around a sender that stopped between drawing its ticket and publishing: after
// kSrbpPollsPerScan polls of an empty place it scans ahead once, and after kSrbpScansToPark scans that found later
// messages it parks the ticket. Parking too soon costs a little work, and never a message.
inline constexpr int kSrbpPollsPerScan = 32;
inline constexpr int kSrbpScansToPark = 2;
// A buffer for long messages is given back after one that needed more than this.
inline constexpr std::size_t kReassemblyKeepBytes = 64 * 1024;

static_assert(kEndpointsMax <= kChannelEndpointsMax);
static_assert(kNvpSlotsPerSender <= 128, "NVP tells 128 new lines from none by a byte");

}  // namespace ingot::transport
