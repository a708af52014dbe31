#include "replication/client/session_client.h"

#include <optional>
#include <utility>

namespace ingot {

SessionClient::SessionClient(Transport& transport, Options options)
    : wake_loop_(std::move(options.wake_loop)), now_ns_(std::move(options.now_ns)), endpoint_(transport, options) {}

void SessionClient::submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) {
  const std::uint64_t now_ns = now_ns_();
  bool wake = false;
  std::optional<SessionEndpoint::Refusal> refusal;
  {
    const std::lock_guard lock(mutex_);
    const bool timer_stood = endpoint_.deadline_ns() == kNever;
    refusal = endpoint_.submit(kind, std::move(payload), callback, replica, now_ns);
    wake = timer_stood && endpoint_.deadline_ns() != kNever;
  }
  if (wake) wake_loop_();
  if (refusal) callback({refusal->outcome, Slot(), refusal->sentence});
}

int SessionClient::poll(std::uint64_t now_ns) {
  int work = 0;
  {
    const std::lock_guard lock(mutex_);
    work = endpoint_.poll(now_ns, answers_);
  }
  for (const SessionCore::Answer& answer : answers_) answer.deliver();
  answers_.clear();
  return work;
}

bool SessionClient::readable() {
  const std::lock_guard lock(mutex_);
  return endpoint_.readable();
}

std::uint64_t SessionClient::deadline_ns() const {
  const std::lock_guard lock(mutex_);
  return endpoint_.deadline_ns();
}

void SessionClient::begin_incarnation(PeerIncarnation announced) {
  const std::lock_guard lock(mutex_);
  endpoint_.begin_incarnation(std::move(announced), now_ns_());
}

void SessionClient::replica_died(EndpointId replica, Incarnation incarnation) {
  {
    const std::lock_guard lock(mutex_);
    endpoint_.replica_died(replica, incarnation, now_ns_());
  }
  wake_loop_();
}

std::size_t SessionClient::in_flight() const {
  const std::lock_guard lock(mutex_);
  return endpoint_.in_flight();
}

}  // namespace ingot
