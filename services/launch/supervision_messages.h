// Makes the messages of the supervision channel (proto/ingot/supervision/v1/supervision.proto) and decodes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/types.h"
#include "proto/ingot/supervision/v1/supervision.pb.h"
#include "services/sockets/unix_listener.h"

namespace ingot::inline services_launch {

namespace supervision_v1 = ::ingot::supervision::v1;

using SupervisionMessage = supervision_v1::Message;

inline constexpr std::size_t kSupervisionMessageBytesMax = 4096;  // of one datagram; sending a longer one fails a CHECK
// Descriptors of one datagram; sending more fails a CHECK: they need several datagrams. The kernel's own limit is 253.
inline constexpr std::size_t kSupervisionDescriptorsMax = 200;
// Earlier incarnations of one replica in a message, so that it fits into a datagram. A replica of which so many are
// needed is not restarted until a published snapshot has released some.
inline constexpr std::size_t kKeptIncarnationsMax = 600;
inline constexpr std::size_t kFailureTextBytesMax = 3072;  // a longer text is cut off there

// Decodes a datagram that came with that number of descriptors. None if the bytes are not a message, the kind is not
// known, the number of descriptors is not that of the kind, or a field is out of range.
std::optional<SupervisionMessage> decode_supervision_message(std::string_view bytes, std::size_t descriptors);

SupervisionMessage ready_message();
SupervisionMessage drain_message();
SupervisionMessage leave_message();
SupervisionMessage describe_message();
SupervisionMessage adopted_message();
SupervisionMessage ping_message();
SupervisionMessage pong_message();
// REQUIRES: !why.ok().
SupervisionMessage failed_message(const absl::Status& why);
// REQUIRES: endpoint >= 0, incarnation > 0; `kept` ascends and has at most kKeptIncarnationsMax, all of them earlier.
SupervisionMessage incarnation_message(int endpoint, std::uint32_t incarnation, std::span<const Incarnation> kept = {});
// Likewise.
SupervisionMessage kept_message(int endpoint, std::span<const Incarnation> kept);
SupervisionMessage snapshot_message(Slot slot, Incarnation from);
// REQUIRES: binding > 1.
SupervisionMessage socket_message(std::uint32_t binding, const SocketFile& file);

// The list of a NewIncarnation or KeptIncarnations message.
template <typename Message>
std::vector<Incarnation> kept_of(const Message& message) {
  std::vector<Incarnation> kept;
  for (const std::uint32_t each : message.kept()) kept.push_back(Incarnation(each));
  return kept;
}

// The status that was given to failed_message(); its text may have been cut off.
absl::Status status_of(const supervision_v1::Failed& failed);

}  // namespace ingot::services_launch
