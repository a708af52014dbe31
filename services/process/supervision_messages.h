// Makes the messages of the supervision channel (proto/ingot/supervision/v1/supervision.proto) and decodes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/types.h"
#include "proto/ingot/supervision/v1/supervision.pb.h"

namespace ingot {

namespace supervision_v1 = ::ingot::supervision::v1;

using SupervisionMessage = supervision_v1::Message;

inline constexpr std::size_t kSupervisionMessageBytesMax = 4096;  // of one datagram; sending a longer one fails a CHECK
// Descriptors of one datagram; sending more fails a CHECK: they need several datagrams. The kernel's own limit is 253.
inline constexpr std::size_t kSupervisionDescriptorsMax = 200;
inline constexpr std::size_t kFailureTextBytesMax = 3072;  // a longer text is cut off there

// Decodes a datagram that came with that number of descriptors. None if the bytes are not a message, the kind is not
// known, the number of descriptors is not that of the kind, or a field is out of range.
std::optional<SupervisionMessage> decode_supervision_message(std::string_view bytes, std::size_t descriptors);

SupervisionMessage ready_message();
SupervisionMessage drain_message();
SupervisionMessage leave_message();
SupervisionMessage describe_message();
SupervisionMessage adopted_message();
// REQUIRES: !why.ok().
SupervisionMessage failed_message(const absl::Status& why);
// REQUIRES: endpoint >= 0, incarnation > 0.
SupervisionMessage incarnation_message(int endpoint, std::uint32_t incarnation);
SupervisionMessage snapshot_message(Slot slot, Incarnation from);

// The status that was given to failed_message(); its text may have been cut off.
absl::Status status_of(const supervision_v1::Failed& failed);

}  // namespace ingot
