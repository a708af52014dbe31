// A replica's door: who may speak to its protocol, and how its protocol speaks to others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "replication/agreement/agreement.h"
#include "replication/agreement/messages.h"

namespace ingot {

// Opens incoming messages and counts those it refuses: malformed ones, those of endpoints that are no replica, and
// those of an incarnation older than one heard of. Seals outgoing ones with the own incarnation. A message to oneself
// never becomes an effect: it waits here until the protocol takes it. Not thread-safe.
class Mailbox {
 public:
  explicit Mailbox(const GroupConfig& group);

  // The message, if it is one that the protocol may look at. Views point into `bytes`.
  std::optional<Message> open(EndpointId from, std::string_view bytes);

  // To a peer or to oneself.
  void send(EndpointId to, Message message, Effects& effects);
  // To every other replica.
  void broadcast(Message message, Effects& effects);
  // To the replicas 0 .. count-1, without oneself.
  void multicast(int count, Message message, Effects& effects);

  // The oldest message to oneself. The caller asks until there is none, before it returns an input's effects.
  std::optional<Message> take_own();
  bool has_own() const { return !own_.empty(); }

  // Counts a message that proved wrong only when it was looked at.
  void refuse() { ++refused_; }
  std::uint64_t refused() const { return refused_; }

 private:
  std::shared_ptr<const std::string> stamp(Message& message) const;

  EndpointId self_;
  Incarnation incarnation_;
  std::vector<Incarnation> known_;  // by replica: the highest incarnation heard of
  std::deque<Message> own_;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot
