#include "replication/agreement/one_paxos/config_entry.h"

#include "core/check.h"
#include "core/wire.h"

namespace ingot::inline replication_agreement_one_paxos {

namespace {

void write_name(ReplicaIncarnation name, WireWriter& out) { out.u16(name.id.value()).u32(name.incarnation.value()); }

ReplicaIncarnation read_name(WireReader& in) {
  const EndpointId id(in.u16());
  return {id, Incarnation(in.u32())};
}

bool read_in_flight(WireReader& in, ConfigEntry& entry) {
  entry.decided = Slot(in.u64());
  std::uint64_t next = entry.base.value();
  while (!in.failed() && in.remaining() > 0) {
    const Slot slot(in.u64());
    const std::string_view command = in.bytes();
    const bool gap = slot.value() > next && next < entry.decided.value();
    if (in.failed() || slot.value() < next || gap || slot.value() >= kSlotsMax || command.size() > kBatchBytesMax) {
      return false;
    }
    entry.in_flight.emplace_back(slot, std::make_shared<const std::string>(command));
    next = slot.value() + 1;
  }
  return in.ok() && entry.base <= entry.decided && next >= entry.decided.value() && entry.decided.value() < kSlotsMax;
}

}  // namespace

std::string encode_entry(const ConfigEntry& entry) {
  WireWriter out;
  out.u8(static_cast<std::uint8_t>(entry.kind));
  write_name(entry.leader, out);
  write_name(entry.acceptor, out);
  out.u64(entry.base.value());
  if (entry.kind == ConfigEntry::Kind::kAcceptorChange) {
    out.u64(entry.decided.value());
    for (const auto& [slot, command] : entry.in_flight) out.u64(slot.value()).bytes(*command);
  }
  INGOT_CHECK(out.size() <= kConfigurationEntryBytesMax, "in-flight entries are bounded");
  return out.take();
}

std::optional<ConfigEntry> decode_entry(std::string_view bytes, int voters) {
  if (bytes.size() > kConfigurationEntryBytesMax) return std::nullopt;
  WireReader in(bytes);
  ConfigEntry entry;
  entry.kind = static_cast<ConfigEntry::Kind>(in.u8());
  entry.leader = read_name(in);
  entry.acceptor = read_name(in);
  entry.base = Slot(in.u64());
  const bool change_of_acceptor = entry.kind == ConfigEntry::Kind::kAcceptorChange;
  if (!change_of_acceptor && (entry.kind != ConfigEntry::Kind::kLeaderChange || !in.ok())) return std::nullopt;
  if (entry.leader.id.value() >= voters || entry.acceptor.id.value() >= voters) return std::nullopt;
  if (entry.leader.incarnation.value() == 0 || entry.acceptor.incarnation.value() == 0) return std::nullopt;
  if (voters > 1 && entry.leader == entry.acceptor) return std::nullopt;  // a dead earlier incarnation may be
  if (entry.base.value() >= kSlotsMax) return std::nullopt;
  if (change_of_acceptor && !read_in_flight(in, entry)) return std::nullopt;
  return entry;
}

}  // namespace ingot::replication_agreement_one_paxos
