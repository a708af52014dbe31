// Collectives as schedules: a directed acyclic graph of sends, receives and computations that a progress engine runs
// without anybody waiting for it (Nomura and Ishikawa, KACC).
//
// A schedule is one endpoint's part of a collective operation. It is built once and may be run any number of times, one
// run at a time; a run allocates nothing. The memory that its nodes name is the user's (or ScheduleBuilder::buffer's),
// outlives it, and is not touched by the user while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "transport/collectives/schedule_limits.h"
#include "transport/collectives/schedule_wire.h"

namespace ingot {

// A computation: may read `source`, which is as long as `target`, and change `target`. Never blocks.
struct Computation {
  void (*function)(const void* context, std::span<std::byte> target, std::span<const std::byte> source) = nullptr;
  const void* context = nullptr;  // handed to `function`; outlives the schedule
};

class ProgressEngine;

// Not thread-safe: used by its endpoint's thread. It is not moved while it runs (checked). One that is destroyed while
// it runs is cancelled, without a callback.
class Schedule {
 public:
  enum class State : std::uint8_t {
    kIdle,     // not run yet
    kRunning,  // the engine has it
    kDone,     // the last run is complete here; other members may still be at it
    kFailed,   // the last run cannot complete: failure() says why
  };

  Schedule(Schedule&& other) noexcept;
  Schedule& operator=(Schedule&& other) noexcept;
  ~Schedule();

  EndpointId self() const { return self_; }
  std::size_t nodes() const { return nodes_.size(); }
  State state() const { return state_; }
  bool done() const { return state_ == State::kDone; }
  // Empty unless kFailed.
  const std::string& failure() const { return failure_; }

  // `callback` is called from the engine after each run, done or failed. It may start any schedule, this one too; it
  // must not destroy this one.
  void on_end(std::function<void(Schedule&)> callback) { on_end_ = std::move(callback); }

 private:
  friend class ScheduleBuilder;
  friend class ProgressEngine;
  friend class ScheduleReader;

  enum class Kind : std::uint8_t { kSend, kReceive, kCompute };

  struct Node {
    Kind kind = Kind::kCompute;
    bool eager = true;         // send: may leave before the receiver is known to have started the operation
    EndpointId peer{};         // of a send or receive
    std::uint16_t tag = 0;     // likewise
    std::uint32_t blockers = 0;         // nodes before this one
    std::uint32_t blockers_left = 0;    // in this run; a receive that has its message counts kReceived
    std::uint32_t successors_begin = 0; // in successors_
    std::uint32_t successors_end = 0;
    std::span<std::byte> target{};        // receive, compute
    std::span<const std::byte> source{};  // send, compute
    Computation computation{};
  };
  // Where a message goes. Sorted by key.
  struct ReceiveKey {
    std::uint32_t key;   // peer << 16 | tag
    std::uint32_t node;
  };
  // A peer that this endpoint receives from.
  struct Source {
    EndpointId peer;
    bool waits_for_start;  // it sends more than may be held: it must hear at once that this endpoint has started
  };
  struct AlignedDelete {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  using Buffer = std::unique_ptr<std::byte[], AlignedDelete>;

  static constexpr std::uint32_t key_of(EndpointId peer, std::uint16_t tag) {
    return std::uint32_t{peer.value()} << 16 | tag;
  }

  Schedule() = default;

  EndpointId self_{};
  State state_ = State::kIdle;
  int endpoints_ = 0;  // of the fabric that it was built for
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> first_;  // nodes that can run at once: sends and computations without blockers
  std::vector<ReceiveKey> receives_;
  std::vector<Source> sources_;
  std::vector<Buffer> buffers_;
  std::function<void(Schedule&)> on_end_;
  std::string failure_;

  // Of the present run; the engine's.
  ProgressEngine* engine_ = nullptr;
  std::uint32_t nodes_left_ = 0;
  GroupId group_{};
  OperationSequence sequence_{};
};

// Makes schedules. Used once.
class ScheduleBuilder {
 public:
  struct NodeId {
    std::uint32_t value;
  };

  // `endpoints`: of the fabric, 1 to kChannelEndpointsMax; endpoints are numbered from 0.
  ScheduleBuilder(EndpointId self, int endpoints);

  // Sends `source` as it is when the node runs. `tag` tells this operation's messages to `to` apart; the receiver
  // names the same.
  NodeId send(EndpointId to, std::uint16_t tag, std::span<const std::byte> source);

  // Receives exactly `target.size()` bytes, at any time from the start of the operation on: that nobody sends before
  // `target` is free is the schedule's affair. So a receive cannot come after another node of its schedule.
  NodeId receive(EndpointId from, std::uint16_t tag, std::span<std::byte> target);

  NodeId compute(Computation computation, std::span<std::byte> target, std::span<const std::byte> source);

  // `after` runs when `before` is done. A send is done when the transport has taken it.
  void connect(NodeId before, NodeId after);

  // Memory that lives as long as the schedule, zero-filled, aligned to 64 bytes.
  std::span<std::byte> buffer(std::size_t bytes);

  // Errors: INVALID_ARGUMENT with one sentence: an unknown endpoint or oneself, two messages of one tag, a message that
  // is too long, operands of different sizes, no function, an edge to no node, a receive that comes after something,
  // a cycle, too many nodes.
  absl::StatusOr<Schedule> build();

 private:
  using Node = Schedule::Node;
  using Kind = Schedule::Kind;

  NodeId add(Node node);
  absl::Status check_nodes() const;
  absl::Status check_node(std::size_t index) const;
  absl::Status link();
  absl::Status check_acyclic() const;
  void index_receives();
  void mark_eager();

  Schedule schedule_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

// Checks that the schedules of all members of a group make one operation: each send has its receive, of the same size,
// and the whole comes to an end. They must name endpoints of one fabric.
// Errors: INVALID_ARGUMENT with one sentence.
absl::Status check_fit(std::span<const Schedule* const> schedules);

}  // namespace ingot
