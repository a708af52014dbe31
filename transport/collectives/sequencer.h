// The root's side of atomic broadcast: orders submissions, keeps messages that members may lack, changes the tree.
// Pure: messages in, effects out.
//
// A change of the tree starts an epoch, in steps:
//   1. The root stops ordering, and sends every member the new tree and its first sequence (kNewEpoch).
//   2. A member that receives it leaves the old tree and reports how far it has delivered (kJoined). The root sends it
//      the messages that it lacks below the first sequence (kCatchUp).
//   3. When all members that have children in the new tree have joined, the root orders again, along the new tree.
//      Leaves may join later: a slow member that has become a leaf holds up no other.
// A member that dies meanwhile causes another epoch.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/types.h"
#include "transport/collectives/ordered_messages.h"

namespace ingot::inline transport_collectives {

// `tree` without that member: its children take its place under its parent.
// REQUIRES: it is a member, not the root.
OrderedTree tree_without(const OrderedTree& tree, EndpointId member);

// Checks that `tree` is valid for members of a fabric of so many endpoints. Errors: INVALID_ARGUMENT with one sentence.
absl::Status check_ordered_tree(const OrderedTree& tree, int endpoints);

// Not thread-safe.
class Sequencer {
 public:
  // REQUIRES: check_ordered_tree(tree, endpoints), and its root is `self`.
  Sequencer(GroupId group, EndpointId self, int endpoints, const OrderedTree& tree);

  // Takes the origin's next message. Drops messages of non-members, duplicates, and those beyond kSubmissionsMax
  // unordered ones.
  // REQUIRES: payload.size() <= kOrderedBytesMax.
  void submit(EndpointId origin, std::uint64_t number, std::string_view payload, OrderedEffects& effects);

  // REQUIRES: a kTaken or kJoined of this group.
  void receive(EndpointId from, const OrderedMessage& message, OrderedEffects& effects);

  // Starts an epoch with that tree. Its members are some of the present ones, its root the present one. Errors, all
  // without effect: INVALID_ARGUMENT with one sentence.
  absl::Status change_tree(const OrderedTree& tree, OrderedEffects& effects);

  const OrderedTree& tree() const { return tree_; }
  std::uint32_t epoch() const { return epoch_; }
  std::uint64_t ordered() const { return next_; }              // total
  std::size_t kept() const { return kept_.size(); }            // those that some member may lack
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
    std::uint64_t taken;  // its subtree has delivered all sequences below, if all members have caught up
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
  std::vector<std::uint64_t> delivered_;  // by endpoint: reported in its join, all sequences below; next_ in epoch 0
  std::vector<bool> joined_;              // by endpoint: in this epoch
  std::deque<OrderedEntry> kept_;         // the last of them is next_ - 1
  std::size_t kept_bytes_ = 0;
  std::size_t unwatched_messages_ = 0;  // since the last one with a report
  std::size_t unwatched_bytes_ = 0;
  std::deque<Submission> submissions_;
  std::vector<std::uint64_t> next_number_;     // by endpoint: of its next submission
  std::vector<std::size_t> unordered_;         // by endpoint: its submissions here
  std::uint64_t dropped_ = 0;
};

}  // namespace ingot::transport_collectives
