#include "transport/collectives/groups/object_group.h"

namespace ingot::inline transport_collectives_groups {
namespace {

constexpr std::size_t kMemberBytes = sizeof(std::uint16_t) + sizeof(std::uint32_t);

}  // namespace

std::string GroupCall::encode(std::size_t first, std::size_t end) const {
  WireWriter out;
  out.u8(static_cast<std::uint8_t>(operation)).u32(method).u32(combiner).u32(static_cast<std::uint32_t>(end - first));
  for (std::size_t i = first; i < end; ++i) out.u16(members[i].endpoint.value()).u32(members[i].object);
  out.raw(arguments);
  return out.take();
}

bool GroupCall::decode(std::string_view body, GroupCall& call) {
  WireReader in(body);
  const std::uint8_t operation = in.u8();
  call.operation = static_cast<GroupOperation>(operation);
  call.method = in.u32();
  call.combiner = in.u32();
  const std::uint32_t count = in.u32();
  if (in.failed() || operation > static_cast<std::uint8_t>(GroupOperation::kReduce)) return false;
  if (count == 0 || count > kGroupMembersMax || count > in.remaining() / kMemberBytes) return false;
  call.members.resize(count);
  for (AnyPointer& member : call.members) {
    member.endpoint = EndpointId(in.u16());
    member.object = in.u32();
  }
  call.arguments = in.rest();
  return true;
}

}  // namespace ingot::transport_collectives_groups
