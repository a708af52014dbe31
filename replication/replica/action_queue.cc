#include "replication/replica/action_queue.h"

namespace ingot {

void ActionQueue::send(EndpointId to, std::string_view bytes) {
  if (next_message_ < messages_.size()) {
    const Message& last = messages_.back();
    if (last.shared == nullptr && std::string_view(buffer_).substr(last.begin, last.bytes) == bytes) {
      messages_.push_back({to, last.begin, last.bytes, nullptr});
      return;
    }
  }
  messages_.push_back({to, buffer_.size(), bytes.size(), nullptr});
  buffer_.append(bytes);
}

void ActionQueue::send(EndpointId to, std::shared_ptr<const std::string> message) {
  messages_.push_back({to, 0, 0, std::move(message)});
}

bool ActionQueue::front(Action& action) const {
  if (next_message_ < messages_.size()) {
    const Message& message = messages_[next_message_];
    action = {.kind = Action::Kind::kSend, .to = message.to};
    if (message.shared != nullptr) action.message = &message.shared;
    action.bytes = message.shared != nullptr ? std::string_view(*message.shared)
                                             : std::string_view(buffer_).substr(message.begin, message.bytes);
    return true;
  }
  if (orders_.empty()) return false;
  const Order& order = orders_.front();
  action = {.kind = order.kind,
            .incarnation = order.incarnation,
            .slot = order.slot,
            .bytes = order.line,
            .file = order.file.get(),
            .snapshot = &order.snapshot};
  return true;
}

// An order may have queued messages while it was carried out.
void ActionQueue::pop(Action::Kind shown) {
  if (shown != Action::Kind::kSend) return orders_.pop_front();
  if (++next_message_ < messages_.size()) return;
  messages_.clear();
  next_message_ = 0;
  buffer_.clear();
  if (buffer_.capacity() > kBufferKeepBytes) buffer_.shrink_to_fit();
}

}  // namespace ingot
