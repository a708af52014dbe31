// Messages between the members of an atomic broadcast.
//
//   offset  0  u8   kOrderedClass
//           1  u8   type
//           2  u16  group
//           4  u32  epoch
//           8  u64  sequence
//          16  u64  number
//          24  u16  endpoint
//          26  u16  flags: bit 0: report when your subtree has it; the others 0
//          28       by type: nothing | the payload, to the end | u16 members, then for each, parents first, u16
//                   endpoint and u16 its parent's place in this list (the first, the root, has its own)
//
// A payload of 20 bytes still fits in one line of every channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/planning/tree.h"
#include "core/types.h"
#include "transport/collectives/schedule_limits.h"
#include "transport/collectives/schedule_wire.h"

namespace ingot::inline transport_collectives {

inline constexpr std::uint8_t kOrderedClass = 0x42;  // distinct from ScheduleClass and replication's MessageClass
inline constexpr std::size_t kOrderedHeaderBytes = 28;

enum class OrderedType : std::uint8_t {
  kSubmit = 1,    // member -> root: order this; number: of the member's submission
  kOrdered = 2,   // parent -> child: the message at `sequence`, submitted by `endpoint` as its `number`
  kCatchUp = 3,   // root -> member: likewise, ordered before this epoch; not forwarded
  kTaken = 4,     // child -> parent: my whole subtree has delivered all sequences below `sequence`
  kNewEpoch = 5,  // root -> member: a new tree; number: it carries all sequences from there on
  kJoined = 6,    // member -> root: I use that tree, and have delivered all sequences below `sequence`
  kDead = 7,      // member -> root: `endpoint` is dead
};

struct OrderedMessage {
  OrderedType type = OrderedType::kSubmit;
  GroupId group{};
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t number = 0;
  EndpointId endpoint{};
  bool wants_taken = false;
  std::string_view payload{};  // kSubmit, kOrdered, kCatchUp; of kNewEpoch the encoded tree
};

std::string encode(const OrderedMessage& message);

// Nothing, if any byte is not as described above.
std::optional<OrderedMessage> decode_ordered(std::string_view bytes);

// The members of the group and the tree of their messages. members[i] is at the tree's core i.
struct OrderedTree {
  std::vector<EndpointId> members;
  Tree tree;

  EndpointId root() const { return members[static_cast<std::size_t>(tree.root)]; }
  bool has(EndpointId endpoint) const;
};

// The payload of kNewEpoch.
// REQUIRES: a right tree with as many cores as members.
std::string encode_tree(const OrderedTree& tree);
std::optional<OrderedTree> decode_tree(std::string_view bytes, int endpoints);

// A message at its place in the order. Copies share the bytes.
struct OrderedEntry {
  std::uint64_t sequence = 0;
  std::uint64_t number = 0;  // its submitter's number for it, from 0
  EndpointId origin{};
  bool wants_taken = false;
  std::shared_ptr<const std::string> message;  // as it was sent, with its header before the payload

  std::string_view payload() const { return std::string_view(*message).substr(kOrderedHeaderBytes); }
};

// The effects of a step, in this order: first the messages are sent, then the entries delivered.
struct OrderedEffects {
  struct Outgoing {
    EndpointId to;
    std::shared_ptr<const std::string> message;
  };
  std::vector<Outgoing> messages;
  std::vector<OrderedEntry> delivered;

  bool empty() const { return messages.empty() && delivered.empty(); }
};

}  // namespace ingot::transport_collectives
