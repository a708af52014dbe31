// The root's side of atomic broadcast: orders what is submitted, keeps what somebody may lack, changes the tree. Pure:
// messages in, effects out.
//
// A change of the tree starts an epoch, in steps:
//   1. The root orders nothing more, and tells every member the new tree and where it begins (kNewEpoch).
//   2. A member that hears of it leaves the old tree and says how far it has delivered (kJoined). The root sends it what
//      it lacks below the beginning (kCatchUp).
//   3. When all members that have children in the new tree have joined, the root orders again, along the new tree. Who
//      has none may come later: a slow member that has become a leaf stops nobody.
// A member that dies meanwhile makes for another epoch.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/types.h"
#include "transport/collectives/ordered_messages.h"

namespace ingot {

// `tree` without that member: its children take its place under its parent. REQUIRES: it is a member, not the root.
OrderedTree tree_without(const OrderedTree& tree, EndpointId member);

// Whether `tree` is right for members of a fabric of so many endpoints. Errors: INVALID_ARGUMENT with one sentence.
absl::Status check_ordered_tree(const OrderedTree& tree, int endpoints);

// Not thread-safe.
class Sequencer {
 public:
  // REQUIRES: check_ordered_tree(tree, endpoints), and its root is `self`.
  Sequencer(GroupId group, EndpointId self, int endpoints, const OrderedTree& tree);

  // Takes the origin's next message. Those of who is not a member, those that come twice and those beyond
  // kSubmissionsMax unordered ones are dropped. REQUIRES: payload.size() <= kOrderedBytesMax.
  void submit(EndpointId origin, std::uint64_t number, std::string_view payload, OrderedEffects& effects);

  // REQUIRES: a kTaken or kJoined of this group.
  void receive(EndpointId from, const OrderedMessage& message, OrderedEffects& effects);

  // Starts an epoch with that tree. Its members are some of the present ones, its root the present one.
  // Errors, which change nothing: INVALID_ARGUMENT with one sentence.
  absl::Status change_tree(const OrderedTree& tree, OrderedEffects& effects);

  const OrderedTree& tree() const { return tree_; }
  std::uint32_t epoch() const { return epoch_; }
  std::uint64_t ordered() const { return next_; }              // messages so far
  std::size_t kept() const { return kept_.size(); }            // of these, that somebody may lack
  std::size_t waiting() const { return submissions_.size(); }  // submitted, not ordered
  // Members that must join before the epoch starts; none: it has.
  const std::vector<EndpointId>& awaited() const { return awaited_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Submission {
    EndpointId origin;
    std::uint64_t number;
    std::string payload;
  };
  struct Child {
    EndpointId endpoint;
    std::uint64_t taken;  // its subtree has delivered everything before, if all members have caught up
  };

  void receive_joined(EndpointId from, std::uint64_t delivered, OrderedEffects& effects);
  void catch_up(EndpointId member, std::uint64_t from_sequence, OrderedEffects& effects) const;
  void encode_catch_up();
  void take_seat();
  void order(OrderedEffects& effects);
  void order_one(Submission submission, OrderedEffects& effects);
  bool wants_taken(std::size_t bytes);
  void let_go();
  void announce_epoch(const std::vector<EndpointId>& members, OrderedEffects& effects) const;

  const GroupId group_;
  const EndpointId self_;
  const int endpoints_;
  OrderedTree tree_;
  std::uint32_t epoch_ = 0;
  std::vector<Child> children_;
  std::vector<EndpointId> awaited_;
  std::uint64_t next_ = 0;  // sequence of the next message
  std::uint64_t base_ = 0;  // the epoch's first
  std::vector<std::uint64_t> delivered_;  // by endpoint: what it said when it joined, all before; next_ in epoch 0
  std::vector<bool> joined_;              // by endpoint: in this epoch
  std::deque<OrderedEntry> kept_;         // the last of them is next_ - 1
  std::size_t kept_bytes_ = 0;
  std::size_t unwatched_messages_ = 0;  // since one whose arrival is told
  std::size_t unwatched_bytes_ = 0;
  std::deque<Submission> submissions_;
  std::vector<std::uint64_t> next_number_;     // by endpoint: of its next submission
  std::vector<std::size_t> unordered_;         // by endpoint: its submissions here
  std::uint64_t dropped_ = 0;
};

}  // namespace ingot
