// What the members of an atomic broadcast say to each other.
//
//   offset  0  u8   kOrderedClass
//           1  u8   type
//           2  u16  group
//           4  u32  epoch
//           8  u64  sequence
//          16  u64  number
//          24  u16  endpoint
//          26  u16  flags: bit 0 "tell when your subtree has it"; the others 0
//          28       by type: nothing | the payload, to the end | u16 members, then for each, parents first, u16 endpoint
//                   and u16 its parent's place in this list (the first, the root, names itself)
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

namespace ingot {

inline constexpr std::uint8_t kOrderedClass = 0x42;  // beside ScheduleClass and replication's MessageClass
inline constexpr std::size_t kOrderedHeaderBytes = 28;

enum class OrderedType : std::uint8_t {
  kSubmit = 1,    // member -> root: order this; number: of the member's submission
  kOrdered = 2,   // parent -> child: this is what `sequence` says, submitted by `endpoint` as its `number`
  kCatchUp = 3,   // root -> member: likewise, ordered before this epoch; not passed on
  kTaken = 4,     // child -> parent: all of my subtree has delivered everything before `sequence`
  kNewEpoch = 5,  // root -> member: from now on this tree; number: everything from there on comes along it
  kJoined = 6,    // member -> root: I use that tree, and have delivered everything before `sequence`
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

// Nothing, if a byte is not as described above.
std::optional<OrderedMessage> decode_ordered(std::string_view bytes);

// Who is in the group and along which tree it speaks. members[i] is at the tree's core i.
struct OrderedTree {
  std::vector<EndpointId> members;
  Tree tree;

  EndpointId root() const { return members[static_cast<std::size_t>(tree.root)]; }
  bool has(EndpointId endpoint) const;
};

// The payload of kNewEpoch. REQUIRES: a right tree with as many cores as members.
std::string encode_tree(const OrderedTree& tree);
std::optional<OrderedTree> decode_tree(std::string_view bytes, int endpoints);

// A message in its place in the order. Copies share the bytes.
struct OrderedEntry {
  std::uint64_t sequence = 0;
  std::uint64_t number = 0;  // of its submitter's messages, from 0
  EndpointId origin{};
  bool wants_taken = false;
  std::shared_ptr<const std::string> message;  // as it was sent; the payload stands behind the header

  std::string_view payload() const { return std::string_view(*message).substr(kOrderedHeaderBytes); }
};

// What a step of the protocol wants done, in this order: first the messages are sent, then the entries delivered.
struct OrderedEffects {
  struct Outgoing {
    EndpointId to;
    std::shared_ptr<const std::string> message;
  };
  std::vector<Outgoing> messages;
  std::vector<OrderedEntry> delivered;

  bool empty() const { return messages.empty() && delivered.empty(); }
};

}  // namespace ingot
