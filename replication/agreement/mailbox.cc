#include "replication/agreement/mailbox.h"

#include <utility>

#include "core/check.h"

namespace ingot::inline replication_agreement {

Mailbox::Mailbox(const GroupConfig& group)
    : self_(group.self), incarnation_(group.incarnation), known_(static_cast<std::size_t>(group.replicas)) {
  INGOT_CHECK(group.replicas >= 1 && group.replicas <= kReplicasMax);
  INGOT_CHECK(group.voters >= 1 && group.voters <= group.replicas && group.voters <= kVotersMax);
  INGOT_CHECK(group.self.value() < group.replicas && group.incarnation.value() > 0);
}

std::optional<Message> Mailbox::open(EndpointId from, std::string_view bytes) {
  std::optional<Message> message;
  if (from.value() < known_.size() && from != self_) message = decode_message(bytes);
  const bool alive = message && message->incarnation.value() > 0 && message->incarnation >= known_[from.value()];
  if (!alive) {
    refuse();
    return std::nullopt;
  }
  known_[from.value()] = message->incarnation;
  return message;
}

void Mailbox::send(EndpointId to, Message message, Effects& effects) {
  if (to == self_) {
    message.incarnation = incarnation_;
    own_.push_back(std::move(message));
    return;
  }
  effects.messages.push_back({.broadcast = false, .to = to, .message = stamp(message)});
}

void Mailbox::broadcast(Message message, Effects& effects) {
  if (known_.size() == 1) return;
  effects.messages.push_back({.broadcast = true, .to = self_, .message = stamp(message)});
}

void Mailbox::broadcast_learn(const Message& learn, ReplicaSet holders, Effects& effects) {
  broadcast(learn, effects);
  holders -= ReplicaSet::of(self_);
  if (known_.size() == 1 || holders.empty()) return;
  Message chosen{.type = MessageType::kChosen, .epoch = learn.epoch, .ballot = learn.ballot, .slot = learn.slot};
  effects.messages.back().holders = holders;
  effects.messages.back().brief = stamp(chosen);
}

void Mailbox::multicast(int count, Message message, Effects& effects) {
  if (static_cast<std::size_t>(count) == known_.size()) return broadcast(std::move(message), effects);
  if (count == 1 && self_ == EndpointId(0)) return;
  const SharedMessage stamped = stamp(message);
  for (std::uint16_t to = 0; to < count; ++to) {
    if (EndpointId(to) == self_) continue;
    effects.messages.push_back({.broadcast = false, .to = EndpointId(to), .message = stamped});
  }
}

std::optional<Message> Mailbox::take_own() {
  if (own_.empty()) return std::nullopt;
  Message message = std::move(own_.front());
  own_.pop_front();
  return message;
}

SharedMessage Mailbox::stamp(Message& message) const {
  message.incarnation = incarnation_;
  return gather(message);
}

}  // namespace ingot::replication_agreement
