// Collectives as schedules: a directed acyclic graph of sends, receives and computations that a progress engine runs
// without blocking any thread (Nomura and Ishikawa, KACC).
//
// A schedule is one endpoint's part of a collective operation. It is built once and may be run any number of times, one
// run at a time; a run allocates nothing. The memory that its nodes refer to is the user's (or
// ScheduleBuilder::buffer's). It outlives the schedule, and the user does not touch it during a run.
#pragma once

#include <algorithm>
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

namespace ingot::inline transport_collectives {

// A computation: may read `source`, which is as long as `target`, and change `target`. Never blocks.
struct Computation {
  void (*function)(const void* context, std::span<std::byte> target, std::span<const std::byte> source) = nullptr;
  const void* context = nullptr;  // passed to `function`; outlives the schedule
};

class ProgressEngine;

// Not thread-safe: used by its endpoint's thread. Not moved while it runs (checked). Destroying it while it runs
// cancels the run, without a callback.
class Schedule {
 public:
  enum class State : std::uint8_t {
    kIdle,     // not run yet
    kRunning,  // started and not ended
    kDone,     // the last run is complete here; other members may still run
    kFailed,   // the last run cannot complete; see failure()
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

  // The engine calls `callback` after each run, done or failed. It may start any schedule, including this one; it must
  // not destroy this one.
  void on_end(std::function<void(Schedule&)> callback) { on_end_ = std::move(callback); }

 private:
  friend class ScheduleBuilder;
  friend class ProgressEngine;
  friend class ScheduleReader;

  enum class Kind : std::uint8_t { kSend, kReceive, kCompute };
  static constexpr std::uint32_t kOffered = ~std::uint32_t{0};

  struct Node {
    Kind kind = Kind::kCompute;
    bool eager = true;         // send: may leave before the receiver is known to have started the operation
    bool eager_offer = true;   // likewise, if long payloads are offered: see mark_eager_offers
    EndpointId peer{};         // of a send or receive
    std::uint16_t tag = 0;     // likewise
    std::uint32_t blockers = 0;         // nodes before this one
    // In this run; then 1 for a receive that has its message, and kOffered for a send that awaits its answer.
    std::uint32_t blockers_left = 0;
    std::uint32_t successors_begin = 0; // in successors_
    std::uint32_t successors_end = 0;
    std::span<std::byte> target{};        // receive, compute
    std::span<const std::byte> source{};  // send, compute
    Computation computation{};
  };
  // A message's node.
  struct MessageKey {
    std::uint32_t key;   // peer << 16 | tag
    std::uint32_t node;
  };
  // A peer that this endpoint receives from.
  struct Source {
    EndpointId peer;
    bool waits_for_start;  // sends more than may be held: needs this endpoint's start announced at once
  };
  struct AlignedDelete {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  using Buffer = std::unique_ptr<std::byte[], AlignedDelete>;

  static constexpr std::uint32_t key_of(EndpointId peer, std::uint16_t tag) {
    return std::uint32_t{peer.value()} << 16 | tag;
  }

  // The node of a message in receives_ or sends_, or null.
  template <typename Nodes>
  static auto* find(Nodes& nodes, const std::vector<MessageKey>& index, EndpointId peer, std::uint16_t tag) {
    const std::uint32_t key = key_of(peer, tag);
    const auto found = std::lower_bound(index.begin(), index.end(), key,
                                        [](const MessageKey& message, std::uint32_t k) { return message.key < k; });
    return found != index.end() && found->key == key ? &nodes[found->node] : nullptr;
  }

  void mark_eager_offers(std::size_t offered_bytes);

  Schedule() = default;

  EndpointId self_{};
  State state_ = State::kIdle;
  int endpoints_ = 0;  // of the fabric that it was built for
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> first_;  // nodes that can run at once: sends and computations without blockers
  std::vector<MessageKey> receives_;  // by key
  std::vector<MessageKey> sends_;     // likewise
  std::vector<Source> sources_;
  std::vector<Buffer> buffers_;
  std::function<void(Schedule&)> on_end_;
  std::string failure_;

  // State of the present run, which the engine owns.
  ProgressEngine* engine_ = nullptr;
  std::uint32_t nodes_left_ = 0;
  std::uint32_t offers_left_ = 0;   // not answered
  std::size_t offered_bytes_ = 0;   // for which eager_offer was computed; 0: not yet
  GroupId group_{};
  OperationSequence sequence_{};
};

// Builds one schedule. Used once.
class ScheduleBuilder {
 public:
  struct NodeId {
    std::uint32_t value;
  };

  // `endpoints`: of the fabric, 1 to kChannelEndpointsMax; endpoints are numbered from 0.
  ScheduleBuilder(EndpointId self, int endpoints);

  // Sends `source` when the node runs. `tag` distinguishes this operation's messages to `to`; the receiver uses the
  // same tag.
  NodeId send(EndpointId to, std::uint16_t tag, std::span<const std::byte> source);

  // Receives exactly `target.size()` bytes, at any time from the start of the operation on. So a receive cannot come
  // after another node of its schedule; the schedules must ensure that no message is sent before `target` is free.
  NodeId receive(EndpointId from, std::uint16_t tag, std::span<std::byte> target);

  NodeId compute(Computation computation, std::span<std::byte> target, std::span<const std::byte> source);

  // `after` runs when `before` is done. A send is done when the transport has taken it.
  void connect(NodeId before, NodeId after);

  // Memory that lives as long as the schedule, zero-filled, aligned to 64 bytes.
  std::span<std::byte> buffer(std::size_t bytes);

  // Errors: INVALID_ARGUMENT with one sentence: an unknown endpoint or self, two messages with one tag, a message that
  // is too long, operands of different sizes, no function, an edge to a node that does not exist, a receive after
  // another node, a cycle, too many nodes.
  absl::StatusOr<Schedule> build();

 private:
  using Node = Schedule::Node;
  using Kind = Schedule::Kind;

  NodeId add(Node node);
  absl::Status check_nodes() const;
  absl::Status check_node(std::size_t index) const;
  absl::Status link();
  absl::Status check_acyclic() const;
  void index_messages();
  void mark_eager();

  Schedule schedule_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

// Checks that the schedules of all members of a group form one operation: each send has its receive, of the same size,
// and the whole terminates. They must be of one fabric. Errors: INVALID_ARGUMENT with one sentence.
absl::Status check_fit(std::span<const Schedule* const> schedules);

}  // namespace ingot::transport_collectives
