#include "replication/client/session_client.h"

#include <optional>
#include <utility>

namespace ingot::inline replication_client {

SessionClient::SessionClient(Transport& transport, Options options)
    : now_ns_(std::move(options.now_ns)), endpoint_(transport, options) {}

void SessionClient::submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) {
  const auto refusal = endpoint_.submit(kind, std::move(payload), callback, replica, now_ns_());
  if (refusal) return callback({refusal->outcome, Slot(), refusal->sentence});
  submitted_ = true;
}

// What the callbacks have submitted leaves in this round, too.
int SessionClient::poll(std::uint64_t now_ns) {
  submitted_ = false;  // the endpoint flushes
  const int work = endpoint_.poll(now_ns, answers_);
  for (const SessionCore::Answer& answer : answers_) answer.deliver();
  answers_.clear();
  if (std::exchange(submitted_, false)) endpoint_.flush();
  return work;
}

void SessionClient::begin_incarnation(PeerIncarnation announced) {
  endpoint_.begin_incarnation(std::move(announced), now_ns_());
}

void SessionClient::replica_died(EndpointId replica, Incarnation incarnation) {
  endpoint_.replica_died(replica, incarnation, now_ns_());
}

}  // namespace ingot::replication_client
