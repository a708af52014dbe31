// The messages of the supervision channel (proto/ingot/supervision/v1/supervision.proto) as bytes, and how they are
// made.
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

inline constexpr std::size_t kSupervisionMessageBytesMax = 4096;  // of one datagram; a longer message is a bug (CHECK)
// Descriptors of one datagram; more is a bug (CHECK): they need several datagrams. The kernel's own limit is 253.
inline constexpr std::size_t kSupervisionDescriptorsMax = 200;
inline constexpr std::size_t kFailureTextBytesMax = 3072;  // the rest of a longer text is cut off

// What a datagram with so many descriptors says. None for bytes that are not a message, a message of no known kind, one
// with other descriptors than its kind has, and one whose fields are out of range. Never fails otherwise.
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

// The status that failed_message() was made of; its text may have been cut.
absl::Status status_of(const supervision_v1::Failed& failed);

}  // namespace ingot
