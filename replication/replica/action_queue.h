// The actions that a replica's parts ask for besides agreement's effects: messages, and orders to the driver.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replication/replica/action.h"

namespace ingot::inline replication_replica {

// Messages leave in the order in which they were queued, and before orders. Bytes of messages lie in one buffer that is
// used again: a message costs no allocation of its own. Not thread-safe.
class ActionQueue {
 public:
  // Any action that is not a message. Owns the memory that the action's views point to.
  struct Order {
    Action::Kind kind;
    ReplicaIncarnation incarnation{};
    Slot slot{};
    std::string line{};
    std::shared_ptr<const SnapshotServer::File> file{};
    SnapshotBytes snapshot{};
  };

  // A message of bytes that are copied. The same bytes to several peers in a row are copied once.
  void send(EndpointId to, std::string_view bytes);
  void send(EndpointId to, SharedMessage message);

  // A message that is written in place: `write` appends it to the string that it gets.
  template <typename Write>
  void send_written(EndpointId to, Write&& write) {
    const std::size_t begin = buffer_.size();
    write(buffer_);
    messages_.push_back({to, begin, buffer_.size() - begin, std::nullopt});
  }

  void order(Order order) { orders_.push_back(std::move(order)); }
  void log(std::string line) { order({.kind = Action::Kind::kLog, .line = std::move(line)}); }

  // Bytes of the messages copied or written into the buffer since the buffer was last empty.
  std::size_t buffered_bytes() const { return buffer_.size(); }
  bool empty() const { return next_message_ == messages_.size() && orders_.empty(); }

  // Shows the oldest entry; false: none. The views of an order hold until it is popped, those of a message until
  // another is queued.
  bool front(Action& action) const;
  void pop(Action::Kind shown);

 private:
  struct Message {
    EndpointId to;
    std::size_t begin = 0;  // in the buffer
    std::size_t bytes = 0;
    std::optional<SharedMessage> shared;  // holds the message instead of the buffer
  };
  GatheredMessage buffered(const Message& message) const;

  static constexpr std::size_t kBufferKeepBytes = 1024 * 1024;  // a larger buffer is given back when it is empty

  std::vector<Message> messages_;
  std::size_t next_message_ = 0;
  std::string buffer_;
  std::deque<Order> orders_;
};

}  // namespace ingot::replication_replica
