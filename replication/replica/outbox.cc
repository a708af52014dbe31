#include "replication/replica/outbox.h"

#include <utility>

#include "core/check.h"
#include "core/wire.h"
#include "replication/replica/limits.h"

namespace ingot::inline replication_replica {

void Outbox::send(EndpointId peer, const SharedMessage& message) {
  if (!send_now(peer, message.view())) queue(peer, message);
}

void Outbox::send(EndpointId peer, const GatheredMessage& message) {
  if (!send_now(peer, message)) queue(peer, SharedMessage(std::make_shared<const std::string>(message.joined())));
}

bool Outbox::send_now(EndpointId peer, const GatheredMessage& message) {
  if (waits_for(peer) || !transport_.send_gathered(peer, message)) return false;
  ++sent_messages_;
  return true;
}

Outbox::Backlog& Outbox::backlog_of(EndpointId peer) {
  INGOT_CHECK(peer.value() < kEndpointsMax);
  if (peer.value() >= backlogs_.size()) backlogs_.resize(peer.value() + std::size_t{1});
  return backlogs_[peer.value()];
}

void Outbox::queue(EndpointId peer, SharedMessage message) {
  Backlog& backlog = backlog_of(peer);
  if (backlog.dead) return;
  if (backlog.messages.size() >= bounds_.messages || backlog.bytes + message.size() > bounds_.bytes) {
    backlog.dropped = true;
    ++dropped_messages_;
    return;
  }
  backlog.bytes += message.size();
  waiting_bytes_ += message.size();
  ++waiting_messages_;
  backlog.messages.push_back(std::move(message));
}

void Outbox::forget(EndpointId peer) {
  Backlog& backlog = backlog_of(peer);
  waiting_messages_ -= static_cast<int>(backlog.messages.size());
  waiting_bytes_ -= backlog.bytes;
  backlog = {};
  backlog.dead = true;
}

int Outbox::flush(absl::FunctionRef<void(EndpointId)> drained) {
  if (waiting_messages_ == 0) return 0;
  int sent = 0;
  for (std::uint16_t i = 0; i < backlogs_.size(); ++i) {
    Backlog& backlog = backlogs_[i];
    if (backlog.messages.empty()) continue;
    sent += flush_peer(EndpointId(i), backlog);
    if (backlog.messages.empty() && backlog.dropped) {
      backlog.dropped = false;
      drained(EndpointId(i));
    }
  }
  return sent;
}

int Outbox::flush_peer(EndpointId peer, Backlog& backlog) {
  int sent = 0;
  while (!backlog.messages.empty() && transport_.send_gathered(peer, backlog.messages.front().view())) {
    const std::size_t bytes = backlog.messages.front().size();
    backlog.messages.pop_front();
    backlog.bytes -= bytes;
    waiting_bytes_ -= bytes;
    --waiting_messages_;
    ++sent;
  }
  sent_messages_ += static_cast<std::uint64_t>(sent);
  return sent;
}

}  // namespace ingot::replication_replica
