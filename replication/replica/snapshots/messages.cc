#include "replication/replica/snapshots/messages.h"

#include "core/wire.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/limits.h"
#include "replication/replica/snapshots/limits.h"

namespace ingot::inline replication_replica_snapshots {

namespace {

constexpr std::size_t kLongestHeaderBytes = 56;

SnapshotName read_name(WireReader& in) {
  SnapshotName name;
  name.slot = Slot(in.u64());
  name.bytes = in.u64();
  name.checksum = in.u64();
  return name;
}

bool plausible(const SnapshotName& name) {
  return name.bytes > kSnapshotHeaderBytes && name.bytes <= kSnapshotBytesMax && name.slot.value() <= kSlotsMax;
}

// An asker without a file name has no bytes of a file: its offset is 0.
bool plausible_ask(const SnapshotMessage& ask) {
  if (ask.above.value() > kSlotsMax) return false;
  return ask.name == SnapshotName{} ? ask.offset == 0 : plausible(ask.name) && ask.offset <= ask.name.bytes;
}

bool plausible_part(const SnapshotMessage& part) {
  return plausible(part.name) && !part.data.empty() && part.data.size() <= kSnapshotPartBytes &&
         part.offset <= part.name.bytes && part.data.size() <= part.name.bytes - part.offset;
}

}  // namespace

std::string encode(const SnapshotMessage& message) {
  WireWriter out(kLongestHeaderBytes + message.data.size());
  out.u8(static_cast<std::uint8_t>(MessageClass::kSnapshot)).u8(kSnapshotWireVersion);
  out.u8(static_cast<std::uint8_t>(message.type)).u8(0).u32(message.incarnation.value()).u64(message.round);
  const bool ask = message.type == SnapshotMessageType::kAsk;
  if (ask) out.u64(message.above.value());
  if (ask || message.type == SnapshotMessageType::kPart) {
    out.u64(message.name.slot.value()).u64(message.name.bytes).u64(message.name.checksum).u64(message.offset);
  }
  out.raw(message.data);
  return out.take();
}

std::optional<SnapshotMessage> decode_snapshot_message(std::string_view bytes) {
  WireReader in(bytes);
  const bool ours = in.u8() == static_cast<std::uint8_t>(MessageClass::kSnapshot) && in.u8() == kSnapshotWireVersion;
  if (!ours) return std::nullopt;
  SnapshotMessage message;
  message.type = static_cast<SnapshotMessageType>(in.u8());
  if (in.u8() != 0) return std::nullopt;
  message.incarnation = Incarnation(in.u32());
  message.round = in.u64();
  bool plausible = true;
  switch (message.type) {
    case SnapshotMessageType::kAsk:
      message.above = Slot(in.u64());
      message.name = read_name(in);
      message.offset = in.u64();
      plausible = plausible_ask(message);
      break;
    case SnapshotMessageType::kWait:
    case SnapshotMessageType::kNone:
      break;
    case SnapshotMessageType::kPart:
      message.name = read_name(in);
      message.offset = in.u64();
      message.data = in.rest();
      plausible = plausible_part(message);
      break;
    default:
      return std::nullopt;
  }
  if (!in.ok() || !plausible || message.incarnation.value() == 0) return std::nullopt;
  return message;
}

}  // namespace ingot::replication_replica_snapshots
