#include "services/launch/supervision_messages.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "core/check.h"
#include "core/limits.h"
#include "replication/agreement/limits.h"
#include "services/config/limits.h"

namespace ingot::inline services_launch {

namespace {

using supervision_v1::TakeDescriptors;
using supervision_v1::TakeRole;

bool well_formed(const TakeDescriptors& take, std::size_t descriptors) {
  return static_cast<std::size_t>(take.numbers_size()) == descriptors &&
         std::all_of(take.numbers().begin(), take.numbers().end(),
                     [&](int number) { return number > STDERR_FILENO && number < take.floor(); });
}

bool well_formed(const TakeRole& take) {
  return !take.role().empty() && take.launch_fd() > STDERR_FILENO && take.control_fd() > STDERR_FILENO;
}

template <typename Message>
bool well_formed_list(const Message& message, std::uint32_t below) {
  const auto& kept = message.kept();
  return message.endpoint() >= 0 && static_cast<std::size_t>(kept.size()) <= kKeptIncarnationsMax &&
         std::adjacent_find(kept.begin(), kept.end(), std::greater_equal<>()) == kept.end() &&
         (kept.empty() || (*kept.begin() > 0 && *kept.rbegin() < below));
}

bool well_formed(const supervision_v1::NewIncarnation& started, std::size_t descriptors) {
  const std::size_t most = started.ended() ? 1 : std::max(2, kFrontEndLoopsMax);
  return descriptors >= 1 && descriptors <= most && started.incarnation() > 0 &&
         well_formed_list(started, started.incarnation());
}

bool well_formed(const SupervisionMessage& message, std::size_t descriptors) {
  switch (message.kind_case()) {
    case SupervisionMessage::kReady:
    case SupervisionMessage::kDrain:
    case SupervisionMessage::kLeave:
    case SupervisionMessage::kDescribe:
    case SupervisionMessage::kAdopted:
    case SupervisionMessage::kPing:
    case SupervisionMessage::kPong:
      return descriptors == 0;
    case SupervisionMessage::kFailed:
      return descriptors == 0 && message.failed().code() != 0;
    case SupervisionMessage::kOrphaned:
      return descriptors == 0 && message.orphaned().orphan_ms() >= 0 &&
             message.orphaned().incarnations_size() <= kEndpointsMax;
    case SupervisionMessage::kHandoverDocument:
      return descriptors == 1 && message.handover_document().descriptors() > 0;
    case SupervisionMessage::kHandoverDescriptors:
      return descriptors > 0;
    case SupervisionMessage::kSnapshot:
      return descriptors == 1 && message.snapshot().slot() <= kSlotsMax;
    case SupervisionMessage::kIncarnation:
      return well_formed(message.incarnation(), descriptors);
    case SupervisionMessage::kKept:
      return descriptors == 0 && well_formed_list(message.kept(), std::numeric_limits<std::uint32_t>::max());
    case SupervisionMessage::kSocket:
      return descriptors == 1 && message.socket().binding() > 1;
    case SupervisionMessage::kTakeDescriptors:
      return well_formed(message.take_descriptors(), descriptors);
    case SupervisionMessage::kTakeRole:
      return descriptors == 0 && well_formed(message.take_role());
    case SupervisionMessage::KIND_NOT_SET:
      return false;
  }
  return false;
}

}  // namespace

std::optional<SupervisionMessage> decode_supervision_message(std::string_view bytes, std::size_t descriptors) {
  SupervisionMessage message;
  if (bytes.size() > kSupervisionMessageBytesMax || descriptors > kSupervisionDescriptorsMax) return std::nullopt;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  if (!well_formed(message, descriptors)) return std::nullopt;
  return message;
}

SupervisionMessage ready_message() {
  SupervisionMessage message;
  message.mutable_ready();
  return message;
}

SupervisionMessage drain_message() {
  SupervisionMessage message;
  message.mutable_drain();
  return message;
}

SupervisionMessage leave_message() {
  SupervisionMessage message;
  message.mutable_leave();
  return message;
}

SupervisionMessage describe_message() {
  SupervisionMessage message;
  message.mutable_describe();
  return message;
}

SupervisionMessage adopted_message() {
  SupervisionMessage message;
  message.mutable_adopted();
  return message;
}

SupervisionMessage ping_message() {
  SupervisionMessage message;
  message.mutable_ping();
  return message;
}

SupervisionMessage pong_message() {
  SupervisionMessage message;
  message.mutable_pong();
  return message;
}

SupervisionMessage failed_message(const absl::Status& why) {
  INGOT_CHECK(!why.ok(), "a failure has a cause");
  SupervisionMessage message;
  message.mutable_failed()->set_code(static_cast<int>(why.code()));
  message.mutable_failed()->set_text(std::string(why.message().substr(0, kFailureTextBytesMax)));
  return message;
}

SupervisionMessage incarnation_message(int endpoint, std::uint32_t incarnation, std::span<const Incarnation> kept) {
  INGOT_CHECK(endpoint >= 0 && incarnation > 0, "the receiver would refuse the message");
  INGOT_CHECK(kept.size() <= kKeptIncarnationsMax, "the datagram would be too long");
  SupervisionMessage message;
  for (const Incarnation each : kept) message.mutable_incarnation()->add_kept(each.value());
  message.mutable_incarnation()->set_endpoint(endpoint);
  message.mutable_incarnation()->set_incarnation(incarnation);
  return message;
}

SupervisionMessage kept_message(int endpoint, std::span<const Incarnation> kept) {
  INGOT_CHECK(endpoint >= 0 && kept.size() <= kKeptIncarnationsMax, "the receiver would refuse the message");
  SupervisionMessage message;
  message.mutable_kept()->set_endpoint(endpoint);
  for (const Incarnation each : kept) message.mutable_kept()->add_kept(each.value());
  return message;
}

SupervisionMessage snapshot_message(Slot slot, Incarnation from) {
  SupervisionMessage message;
  message.mutable_snapshot()->set_slot(slot.value());
  message.mutable_snapshot()->set_incarnation(from.value());
  return message;
}

SupervisionMessage socket_message(std::uint32_t binding, const SocketFile& file) {
  INGOT_CHECK(binding > 1, "the receiver would refuse the message");
  SupervisionMessage message;
  message.mutable_socket()->set_binding(binding);
  message.mutable_socket()->set_device(file.device);
  message.mutable_socket()->set_inode(file.inode);
  return message;
}

absl::Status status_of(const supervision_v1::Failed& failed) {
  return absl::Status(static_cast<absl::StatusCode>(failed.code()), failed.text());
}

}  // namespace ingot::services_launch
