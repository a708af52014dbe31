// Atomic broadcast: any member submits messages, every member delivers all of them in the same order. The tree's root
// determines the order (the sequencer). Messages travel along the tree, submissions go to the root directly.
//
//  * A member delivers a message at most once. While the root lives, all members that are neither dead nor excluded
//    deliver it. Messages of one submitter come in the order of its submissions.
//  * Members deliver prefixes of one sequence, without gaps, duplicates or reordering, whatever happens to the tree.
//  * A submitter does not wait; its message comes back as a delivery.
//  * The tree may change at any time (change_tree at the root), to bypass a member that is dead, slow or better placed
//    elsewhere. A report of a dead member makes the root change it.
//  * The root is not replaced: when it dies, no more messages are ordered, and members may have delivered different
//    prefixes. An application that must survive that needs agreement (docs/agreement.md).
//
// How: sequencer.h and ordered_member.h. Everything is bounded (schedule_limits.h). A member that stops without dying
// stops the others once kOrderedWindow messages have been ordered without it, until change_tree excludes it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "transport/collectives/ordered_member.h"
#include "transport/collectives/ordered_messages.h"
#include "transport/collectives/retry_timer.h"
#include "transport/collectives/sequencer.h"
#include "transport/pollable.h"
#include "transport/transport.h"

namespace ingot::inline transport_collectives {

// One member's end. Used by the thread of its endpoint's loop only.
class AtomicBroadcast final : public Pollable {
 public:
  struct Delivery {
    std::uint64_t sequence;  // 0, 1, 2, ... the same at every member
    EndpointId origin;       // the submitter
    std::uint64_t number;    // the origin's number for it, as submit returned it
    std::span<const std::byte> payload;  // valid during the call
  };
  using Deliver = std::function<void(const Delivery&)>;  // may call submit
  // Plans the tree without `dead`, with the same root. If the result is not a valid tree, tree_without is used.
  using Planner = std::function<OrderedTree(const OrderedTree& tree, EndpointId dead)>;

  struct Options {
    GroupId group{};     // of no other atomic broadcast in the fabric
    OrderedTree tree{};  // the same at every member
    Deliver deliver{};
    Planner planner = tree_without;  // at the root
  };

  // `transport` outlives this; `endpoints` are those of its fabric. Errors: INVALID_ARGUMENT with one sentence: an
  // invalid tree, self not a member, no deliver callback.
  static absl::StatusOr<std::unique_ptr<AtomicBroadcast>> create(Transport& transport, int endpoints, Options options);

  // Submits a message of up to kOrderedBytesMax bytes, and returns its number: 0, 1, 2, ... At the root the message may
  // be delivered before submit returns. Errors, all without effect: INVALID_ARGUMENT (too long), RESOURCE_EXHAUSTED
  // (kSubmissionsMax or kSubmissionBytesMax of this member have not come back), FAILED_PRECONDITION (this member is
  // excluded, or the root is dead).
  absl::StatusOr<std::uint64_t> submit(std::span<const std::byte> payload);

  // The endpoint is dead. The root changes the tree; another member reports it to the root.
  void endpoint_gone(EndpointId endpoint);

  // At the root: starts an epoch with that tree over some of the present members; excluded members deliver no more.
  // Errors, all without effect: FAILED_PRECONDITION (not the root), INVALID_ARGUMENT with one sentence.
  absl::Status change_tree(const OrderedTree& tree);

  bool is_root() const { return sequencer_.has_value(); }
  const OrderedTree& tree() const { return is_root() ? sequencer_->tree() : member_->tree(); }
  std::uint32_t epoch() const { return is_root() ? sequencer_->epoch() : member_->epoch(); }
  std::uint64_t delivered() const { return is_root() ? sequencer_->ordered() : member_->delivered(); }
  bool excluded() const { return !is_root() && member_->excluded(); }
  // The root's queues and the members it waits for; null on other members.
  const Sequencer* sequencer() const { return is_root() ? &*sequencer_ : nullptr; }
  // Received messages that were dropped: duplicates, messages of old epochs or against the rules.
  std::uint64_t dropped() const { return dropped_ + (is_root() ? sequencer_->dropped() : member_->dropped()); }

  // Pollable, for an object that owns its transport's probe.
  int poll(std::uint64_t now_ns) override;
  bool readable() override { return transport_.readable(); }
  std::uint64_t deadline_ns() const override { return retry_.at_ns(); }

  // For an owner that probes and flushes by itself: pass each message to receive (false: not of this group), and call
  // progress once a round, before Transport::flush; it returns how much was done. Call again at deadline_ns().
  bool receive(EndpointId from, std::span<const std::byte> message);
  int progress(std::uint64_t now_ns);

 private:
  AtomicBroadcast(Transport& transport, int endpoints, Options options);

  void handle(EndpointId from, const OrderedMessage& message);
  void receive_dead(EndpointId from, EndpointId endpoint);
  void pass_by(EndpointId dead);
  void tell_root(OrderedType type, std::uint64_t number, EndpointId endpoint, std::string_view payload);
  void execute();
  void deliver(const OrderedEntry& entry);
  void send(EndpointId to, std::shared_ptr<const std::string> message);
  int send_queued();

  using Queue = std::deque<std::shared_ptr<const std::string>>;

  Transport& transport_;
  const int endpoints_;
  const GroupId group_;
  const EndpointId root_;
  const Deliver deliver_;
  const Planner planner_;
  std::optional<Sequencer> sequencer_;   // at the root
  std::optional<OrderedMember> member_;  // elsewhere
  OrderedEffects effects_;
  OrderedEffects executing_;
  bool is_executing_ = false;
  std::vector<Queue> queues_;           // by endpoint; messages that did not fit in its channel
  std::vector<EndpointId> queued_;      // those with a queue that is not empty
  std::vector<bool> gone_;              // by endpoint
  std::uint64_t next_number_ = 0;       // of this member's submissions
  std::deque<std::size_t> underway_;    // bytes of this member's submissions that have not come back, in order
  std::size_t underway_bytes_ = 0;
  std::uint64_t dropped_ = 0;
  RetryTimer retry_;
};

}  // namespace ingot::transport_collectives
