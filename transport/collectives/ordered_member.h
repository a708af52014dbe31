// A member's side of atomic broadcast: forwards messages along the tree and delivers them in order. Pure: messages in,
// effects out.
//
// Only the root numbers messages, always upwards, so the content of a sequence never changes; the epoch tells along
// which tree a message travels. A member takes its epoch's messages from its parent in that tree and forwards them. It
// drops those of older epochs, since the root sends their content again (Sequencer). It holds those of a later epoch
// until that epoch's kNewEpoch has come. It need not forward these: the root starts an epoch when all inner members
// have joined, so this member is a leaf there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "core/types.h"
#include "transport/collectives/ordered_messages.h"

namespace ingot::inline transport_collectives {

// Not thread-safe.
class OrderedMember {
 public:
  // REQUIRES: `tree` is valid, as for TreeSeat::of; self is a member and not the root.
  OrderedMember(GroupId group, EndpointId self, int endpoints, const OrderedTree& tree);

  // REQUIRES: a kOrdered, kCatchUp, kTaken or kNewEpoch of this group.
  void receive(EndpointId from, const OrderedMessage& message, OrderedEffects& effects);

  std::uint32_t epoch() const { return epoch_; }
  std::uint64_t delivered() const { return next_; }  // all sequences below are delivered
  bool excluded() const { return excluded_; }        // by the last epoch; nothing more is delivered
  std::uint64_t dropped() const { return dropped_; }  // messages: duplicates, of old epochs, against the rules
  const OrderedTree& tree() const { return tree_; }

 private:
  struct Child {
    EndpointId endpoint;
    std::uint64_t taken;  // its subtree has delivered all sequences below
  };

  struct Held {
    OrderedEntry entry;
    std::uint32_t epoch;  // not delivered before this one
  };

  void take_seat(std::uint64_t base);
  void receive_new_epoch(EndpointId from, const OrderedMessage& message, OrderedEffects& effects);
  void receive_ordered(EndpointId from, const OrderedMessage& message, OrderedEffects& effects);
  void receive_taken(EndpointId from, const OrderedMessage& message, OrderedEffects& effects);
  void hold(OrderedEntry entry, std::uint32_t epoch);
  void deliver_held(OrderedEffects& effects);
  void deliver(OrderedEntry entry, OrderedEffects& effects);
  void tell_taken(OrderedEffects& effects);
  void send(EndpointId to, OrderedType type, std::uint64_t sequence, OrderedEffects& effects) const;

  const GroupId group_;
  const EndpointId self_;
  const int endpoints_;
  const EndpointId root_;
  OrderedTree tree_;
  std::uint32_t epoch_ = 0;
  bool excluded_ = false;
  EndpointId parent_{};
  std::vector<Child> children_;
  std::uint64_t next_ = 0;                       // sequence to deliver next
  std::optional<std::uint64_t> catching_up_to_;  // next_ at which the root is to be told
  std::map<std::uint64_t, Held> held_;           // by sequence: next_ or less than kOrderedWindow above
  std::deque<std::uint64_t> wanted_;             // delivered sequences that the parent wants reported
  std::uint64_t dropped_ = 0;
};

}  // namespace ingot::transport_collectives
