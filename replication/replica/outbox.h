// Messages that wait for peers whose channels are full: agreement never blocks on a slow peer.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/gathered_message.h"
#include "core/limits.h"
#include "core/types.h"
#include "replication/replica/limits.h"
#include "replication/requests/shared_message.h"
#include "transport/transport.h"

namespace ingot::inline replication_replica {

// Bounds of the backlog of one peer. Messages beyond either one are dropped until the backlog drains.
struct OutboxBounds {
  std::size_t messages = kBacklogMessagesMax;
  std::size_t bytes = kBacklogBytesMax;
};

// FIFO per peer, each within the bounds. Used by its endpoint's thread only.
class Outbox {
 public:
  // REQUIRES: `transport` outlives this.
  explicit Outbox(Transport& transport, OutboxBounds bounds = {}) : transport_(transport), bounds_(bounds) {}

  // Sends the message, or queues it behind those that wait already, or drops it.
  void send(EndpointId peer, const SharedMessage& message);
  // The same with bytes that the caller owns; they are copied only if they have to wait.
  void send(EndpointId peer, const GatheredMessage& message);

  // The peer is dead: messages that wait for it are dropped, and so are all later ones until revive().
  void forget(EndpointId peer);

  // The peer's next incarnation has taken its place.
  void revive(EndpointId peer) {
    if (peer.value() < backlogs_.size()) backlogs_[peer.value()].dead = false;
  }

  // Sends what now fits. Calls `drained` for each peer that had messages dropped and has none waiting any more.
  // Returns the number of messages sent.
  int flush(absl::FunctionRef<void(EndpointId)> drained);

  bool empty() const { return waiting_messages_ == 0; }
  bool waits_for(EndpointId peer) const {
    return peer.value() < backlogs_.size() && !backlogs_[peer.value()].messages.empty();
  }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }
  std::uint64_t dropped_messages() const { return dropped_messages_; }
  std::uint64_t sent_messages() const { return sent_messages_; }  // that the transport took

 private:
  struct Backlog {
    std::deque<SharedMessage> messages;
    std::size_t bytes = 0;
    bool dropped = false;
    bool dead = false;
  };

  bool send_now(EndpointId peer, const GatheredMessage& message);
  Backlog& backlog_of(EndpointId peer);
  void queue(EndpointId peer, SharedMessage message);
  int flush_peer(EndpointId peer, Backlog& backlog);

  Transport& transport_;
  OutboxBounds bounds_;
  std::vector<Backlog> backlogs_;  // by peer, up to the highest that ever had a backlog
  int waiting_messages_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t dropped_messages_ = 0;
  std::uint64_t sent_messages_ = 0;
};

}  // namespace ingot::replication_replica
