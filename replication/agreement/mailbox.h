// A protocol's messages in and out: which incoming ones it may see, and how it sends to itself and others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "replication/agreement/agreement.h"
#include "replication/agreement/messages.h"

namespace ingot::inline replication_agreement {

// Opens incoming messages and counts those it refuses: malformed ones, those of endpoints that are not replicas, and
// those of an incarnation older than the newest known one. Stamps outgoing messages with this replica's incarnation. A
// message to oneself never becomes an effect: it waits here until the protocol takes it. Not thread-safe.
class Mailbox {
 public:
  explicit Mailbox(const GroupConfig& group);

  // The message, if the protocol may process it. Views point into `bytes`.
  std::optional<Message> open(EndpointId from, std::string_view bytes);

  // To a peer or to oneself.
  void send(EndpointId to, Message message, Effects& effects);
  // To every other replica.
  void broadcast(Message message, Effects& effects);
  // A Learn to every other replica. The `holders` have its command under its ballot, and get a Chosen.
  void broadcast_learn(const Message& learn, ReplicaSet holders, Effects& effects);
  // To the replicas 0 .. count-1, without oneself.
  void multicast(int count, Message message, Effects& effects);

  // The oldest message to oneself. The caller takes them until there is none, before it returns an input's effects.
  std::optional<Message> take_own();
  bool has_own() const { return !own_.empty(); }

  // Counts a message that the protocol found to be wrong.
  void refuse() { ++refused_; }
  std::uint64_t refused() const { return refused_; }

 private:
  SharedMessage stamp(Message& message) const;

  EndpointId self_;
  Incarnation incarnation_;
  std::vector<Incarnation> known_;  // by replica: the highest incarnation seen
  std::deque<Message> own_;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot::replication_agreement
