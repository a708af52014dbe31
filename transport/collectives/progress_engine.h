// Runs schedules from an event loop: it has no thread of its own and never blocks.
//
// The operations of a group are numbered: the first that an endpoint starts in a group is 0, the next 1, and so on. So
// all members start the operations of a group in the same order, at any time. Up to kGroupsMax groups and
// kOperationsInFlightMax operations of each are in flight at a time.
//
// A receiver holds messages of operations that it has not started. Windows at the sender bound these: at most
// kEagerBytes of an operation to a receiver, at most kEagerOperations ahead of the operations that the receiver is
// known to have started. Receivers report their progress with any message of theirs in the group or, every
// kAnnounceOperations operations, with a message of its own. A send waits only for the receiver to start operations in
// their order; so no operation waits for a later one.
//
// Where endpoints can copy from one another's memory, a long payload is offered instead of sent: its receiver copies it
// straight to where it belongs. Such a send is done when the receiver has answered. A run that ends otherwise withdraws
// its offers first.
//
// The engine makes no system call and reads no clock: poll's argument is its only time. It runs on any Transport.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/types.h"
#include "transport/collectives/engine_group.h"
#include "transport/collectives/retry_timer.h"
#include "transport/collectives/schedule.h"
#include "transport/collectives/schedule_limits.h"
#include "transport/collectives/schedule_wire.h"
#include "transport/direct_copy.h"
#include "transport/pollable.h"
#include "transport/transport.h"

namespace ingot::inline transport_collectives {

// Totals of an engine's work.
struct ProgressCounters {
  std::uint64_t operations = 0;     // completed
  std::uint64_t sent = 0;           // messages of operations
  std::uint64_t received = 0;       // likewise, held ones too
  std::uint64_t held = 0;           // of these: came before their operation was started
  std::uint64_t announced = 0;      // messages that only report this endpoint's progress
  std::uint64_t full = 0;           // sends that found the channel full or behind others
  std::uint64_t too_soon = 0;       // sends that had to wait for their receiver's progress
  std::uint64_t stray = 0;          // unexpected messages, dropped
  std::uint64_t copied = 0;         // payloads copied from their senders' memory
  std::uint64_t offers_refused = 0;    // own offers that the receiver could not copy; their payloads were sent
  std::uint64_t offers_withdrawn = 0;  // own offers that were made again, since another run was withdrawn meanwhile
};

// How an engine moves long payloads.
struct OneCopy {
  DirectCopy* by = nullptr;             // outlives the engine; null: offers are neither made nor taken
  std::size_t bytes_min = kOneCopyBytes;  // payloads that are offered, 1 or more; each engine may have its own
};

// One endpoint's engine. Used by the thread of its loop only.
class ProgressEngine final : public Pollable {
 public:
  using Handler = std::function<void(EndpointId from, std::span<const std::byte> message)>;

  // `transport` outlives the engine; `endpoints` is the number of endpoints of its fabric. `other` gets messages that
  // are not the engine's; without it they are dropped as stray.
  ProgressEngine(Transport& transport, int endpoints, Handler other = {}, OneCopy one_copy = {});
  ~ProgressEngine() override;
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  EndpointId self() const { return transport_.self(); }

  // Starts the next operation of the group: `schedule` is this endpoint's part. schedule.state() and its callback
  // report the end. Messages that can be sent are passed to the transport at once, and leave with the next poll at the
  // latest. Errors, all without effect: INVALID_ARGUMENT (another endpoint's schedule, no such group),
  // FAILED_PRECONDITION (the schedule runs already or uses an endpoint that is gone, or the group is retired),
  // RESOURCE_EXHAUSTED (kGroupsMax groups, or an operation that is kOperationsInFlightMax older is not finished).
  absl::Status start(GroupId group, Schedule& schedule);

  // Ends the schedule's run as failed, if it runs. Sent messages are not taken back.
  void cancel(Schedule& schedule);

  // Ends all runs of the group as failed and drops its held messages, now and later. The number is never used again.
  void retire(GroupId group);

  // The endpoint is dead: runs that exchange messages with it end as failed. The remaining members retire its groups
  // and continue in others, on trees without it. Not to be called from a schedule's callback.
  void endpoint_gone(EndpointId endpoint);

  // Pollable, for an engine that owns its transport's probe.
  int poll(std::uint64_t now_ns) override;
  bool readable() override;
  std::uint64_t deadline_ns() const override { return retry_.at_ns(); }

  // For an owner that probes and flushes by itself: pass each message to receive (false: not the engine's), and call
  // progress once a round, before Transport::flush; it returns how much was done. Call again at deadline_ns().
  bool receive(EndpointId from, std::span<const std::byte> message);
  int progress(std::uint64_t now_ns);

  const ProgressCounters& counters() const { return counters_; }

 private:
  // A message to an endpoint whose channel was full: a node's or, if `header` is not 0, one that consists of a header.
  // Such a one may be without schedule; otherwise the node is done when it has left.
  struct Blocked {
    Schedule* schedule;
    std::uint32_t node;
    std::uint64_t header;
  };
  struct BlockedQueue {
    std::vector<Blocked> entries;
    std::size_t first = 0;
    bool empty() const { return first == entries.size(); }
  };

  EngineGroup* group_of(GroupId id);
  absl::Status refusal(GroupId group, const Schedule& schedule);
  void begin(EngineGroup& group, Schedule& schedule);
  void announce(EngineGroup& group, const Schedule& schedule);
  void take_held(EngineGroup& group, Schedule& schedule);

  void receive_data(EngineGroup& group, EndpointId from, const ScheduleHeader& header,
                    std::span<const std::byte> payload);
  void receive_answer(EngineGroup& group, EndpointId from, const ScheduleHeader& header);
  void hold(EngineGroup& group, EndpointId from, const ScheduleHeader& header, std::span<const std::byte> payload);
  void deliver(Schedule& schedule, EndpointId from, const ScheduleHeader& header, std::span<const std::byte> payload);
  void deliver_offer(Schedule& schedule, EndpointId from, ScheduleHeader header, std::span<const std::byte> payload);
  Schedule::Node* expected(Schedule& schedule, EndpointId from, std::uint16_t tag, std::size_t bytes);
  void answer(EndpointId to, ScheduleHeader header, ScheduleClass answer_class);
  void drop(EndpointId from, ScheduleHeader header);
  void note_started(EngineGroup& group, EndpointId peer, OperationSequence started);

  int run_ready();
  void run(NodeRef ref);
  void send(NodeRef ref);
  bool offers(const Schedule::Node& node) const;
  bool transmit(Schedule& schedule, Schedule::Node& node);
  void complete_sent(Schedule& schedule, const Schedule::Node& node);
  bool transmit_started(EngineGroup& group, EndpointId peer);
  void block(EndpointId peer, Blocked entry);
  int advance();
  int retry_blocked();
  bool retry(EndpointId peer, Blocked entry);

  void complete(Schedule& schedule, const Schedule::Node& node);
  void end(Schedule& schedule, Schedule::State state);
  void fail(Schedule& schedule, std::string why);
  void forget(const Schedule& schedule);

  Transport& transport_;
  const int endpoints_;
  const Handler other_;
  const OneCopy one_copy_;
  std::vector<std::unique_ptr<EngineGroup>> groups_;  // by id; null: not in use
  std::vector<bool> retired_;                         // by id
  int groups_in_use_ = 0;
  std::vector<std::unique_ptr<EngineGroup>> buried_;  // retired, perhaps still on the stack of a callback
  HeldMessages held_;
  std::vector<NodeRef> ready_;  // from first_ready_ on
  std::size_t first_ready_ = 0;
  bool running_ready_ = false;
  std::vector<BlockedQueue> blocked_;       // by endpoint
  std::vector<EndpointId> blocked_peers_;   // those with a queue that is not empty
  std::vector<bool> gone_;                  // by endpoint
  std::vector<bool> refuses_;               // by endpoint: it cannot copy from here
  bool any_gone_ = false;
  RetryTimer retry_;
  ProgressCounters counters_;
};

}  // namespace ingot::transport_collectives
