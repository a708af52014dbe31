#include "replication/replica/action_queue.h"

namespace ingot::inline replication_replica {

void ActionQueue::send(EndpointId to, std::string_view bytes) {
  if (next_message_ < messages_.size()) {
    const Message& last = messages_.back();
    if (!last.shared && std::string_view(buffer_).substr(last.begin, last.bytes) == bytes) {
      messages_.push_back({to, last.begin, last.bytes, std::nullopt});
      return;
    }
  }
  messages_.push_back({to, buffer_.size(), bytes.size(), std::nullopt});
  buffer_.append(bytes);
}

void ActionQueue::send(EndpointId to, SharedMessage message) {
  messages_.push_back({to, 0, 0, std::move(message)});
}

GatheredMessage ActionQueue::buffered(const Message& message) const {
  return as_bytes(std::string_view(buffer_).substr(message.begin, message.bytes));
}

bool ActionQueue::front(Action& action) const {
  if (next_message_ < messages_.size()) {
    const Message& message = messages_[next_message_];
    action = {.kind = Action::Kind::kSend, .to = message.to};
    if (message.shared) action.shared = &*message.shared;
    action.message = message.shared ? message.shared->view() : buffered(message);
    return true;
  }
  if (orders_.empty()) return false;
  const Order& order = orders_.front();
  action = {.kind = order.kind,
            .incarnation = order.incarnation,
            .slot = order.slot,
            .line = order.line,
            .file = order.file.get(),
            .snapshot = &order.snapshot};
  return true;
}

// `shown` tells which of the two queues the entry came from: an order may have queued messages while it was carried
// out, so front() may show another entry by now.
void ActionQueue::pop(Action::Kind shown) {
  if (shown != Action::Kind::kSend) return orders_.pop_front();
  if (++next_message_ < messages_.size()) return;
  messages_.clear();
  next_message_ = 0;
  buffer_.clear();
  if (buffer_.capacity() > kBufferKeepBytes) buffer_.shrink_to_fit();
}

}  // namespace ingot::replication_replica
