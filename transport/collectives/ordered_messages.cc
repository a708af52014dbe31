#include "transport/collectives/ordered_messages.h"

#include <algorithm>

#include "core/check.h"
#include "core/wire.h"

namespace ingot::inline transport_collectives {

std::string encode(const OrderedMessage& message) {
  WireWriter out(kOrderedHeaderBytes + message.payload.size());
  out.u8(kOrderedClass).u8(static_cast<std::uint8_t>(message.type)).u16(message.group.value()).u32(message.epoch);
  out.u64(message.sequence).u64(message.number).u16(message.endpoint.value()).u16(message.wants_taken ? 1 : 0);
  INGOT_CHECK(out.size() == kOrderedHeaderBytes);
  out.raw(message.payload);
  return out.take();
}

std::optional<OrderedMessage> decode_ordered(std::string_view bytes) {
  WireReader in(bytes);
  OrderedMessage message;
  const bool ours = in.u8() == kOrderedClass;
  message.type = static_cast<OrderedType>(in.u8());
  message.group = GroupId(in.u16());
  message.epoch = in.u32();
  message.sequence = in.u64();
  message.number = in.u64();
  message.endpoint = EndpointId(in.u16());
  const std::uint16_t flags = in.u16();
  message.wants_taken = flags == 1;
  message.payload = in.rest();
  if (!ours || in.failed() || flags > 1) return std::nullopt;
  switch (message.type) {
    case OrderedType::kSubmit:
    case OrderedType::kOrdered:
    case OrderedType::kCatchUp:
      return message.payload.size() <= kOrderedBytesMax ? std::optional(message) : std::nullopt;
    case OrderedType::kNewEpoch:
      return message;
    case OrderedType::kTaken:
    case OrderedType::kJoined:
    case OrderedType::kDead:
      return message.payload.empty() ? std::optional(message) : std::nullopt;
  }
  return std::nullopt;
}

bool OrderedTree::has(EndpointId endpoint) const {
  return std::find(members.begin(), members.end(), endpoint) != members.end();
}

std::string encode_tree(const OrderedTree& tree) {
  const auto parents = parents_of(tree.tree);
  const auto order = preorder_of(tree.tree);
  std::vector<std::uint16_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[static_cast<std::size_t>(order[i])] = static_cast<std::uint16_t>(i);
  WireWriter out;
  out.u16(static_cast<std::uint16_t>(order.size()));
  for (const int core : order) {
    const int parent = core == tree.tree.root ? core : parents[static_cast<std::size_t>(core)];
    out.u16(tree.members[static_cast<std::size_t>(core)].value()).u16(place[static_cast<std::size_t>(parent)]);
  }
  return out.take();
}

std::optional<OrderedTree> decode_tree(std::string_view bytes, int endpoints) {
  WireReader in(bytes);
  const int members = in.u16();
  if (members < 1 || members > endpoints) return std::nullopt;
  OrderedTree result;
  result.tree = Tree(members, 0);
  for (int i = 0; i < members; ++i) {
    const EndpointId endpoint(in.u16());
    const int parent = in.u16();
    const bool right_parent = i == 0 ? parent == 0 : parent < i;
    if (in.failed() || endpoint.value() >= endpoints || result.has(endpoint) || !right_parent) return std::nullopt;
    result.members.push_back(endpoint);
    if (i > 0) result.tree.children[static_cast<std::size_t>(parent)].push_back(i);
  }
  return in.ok() ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace ingot::transport_collectives
