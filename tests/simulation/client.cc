#include "tests/simulation/client.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/check.h"
#include "tests/simulation/kv_operations.h"

namespace ingot::simulation {

namespace {
constexpr TimeNs kRedirectNsMax = 100 * kUs;  // before a client follows a hint; twice that the next time, and so on
constexpr int kRedirectDoublings = 7;
constexpr TimeNs kBusyNs = kMs;
constexpr int kRetryDoublings = 4;
}  // namespace

Client::Client(int number, int replicas, const ClientSchedule& schedule, std::uint64_t seed, Environment& environment,
               Workload& workload)
    : number_(number),
      replicas_(replicas),
      schedule_(schedule),
      prng_(seed),
      environment_(environment),
      workload_(workload),
      last_seen_(schedule.keys),
      acceptor_(replicas > 1 ? 1 : 0) {}

void Client::poll(TimeNs now) {
  environment_.network.flush(endpoint(), now, [](int) {});  // what was dropped is asked again
  read_answers(now);
  for (Pending& pending : pending_) {
    if (pending.retry_at > now) continue;
    if (pending.attempts > 0 && pending.target == leader_) leader_ = any_replica();  // it may be dead or stopped
    attempt(pending, now);
  }
  const auto window = static_cast<std::size_t>(schedule_.window);
  while (pending_.size() < window && workload_.writes_left > 0 && next_call_ <= now) call(now);
  schedule();
}

void Client::read_answers(TimeNs now) {
  Network& network = environment_.network;
  if (network.next_arrival(endpoint()) > now) return;
  for (int from = 0; from < replicas_; ++from) {
    while (const Message message = network.take(from, endpoint(), now)) {
      const auto response = decode_response(*message);
      INGOT_CHECK(response.has_value(), "replicas answer with responses");
      take(*response, from, now);
    }
  }
  network.done_reading(endpoint());
}

void Client::take(const Response& response, int from, TimeNs now) {
  if (response.status == Response::Status::kOk) {
    leader_ = response.leader.value();
    acceptor_ = response.acceptor.value();
  }
  const auto found = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return pending.sequence == response.sequence;
  });
  if (found == pending_.end()) return;  // an answer to an earlier attempt was faster
  switch (response.status) {
    case Response::Status::kOk:
      return finish(static_cast<std::size_t>(found - pending_.begin()), response);
    case Response::Status::kNotLeader:
      return follow(response, *found, from, now);
    case Response::Status::kBusy:
      found->retry_at = std::min(found->retry_at, now + kBusyNs);
      return;
    default:
      violation_ = "exactly once: operation " + std::to_string(found->number) +
                   " is refused, or its result is gone though it was never acknowledged";
  }
}

void Client::finish(std::size_t place, const Response& response) {
  const Pending pending = pending_[place];
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(place));
  --workload_.open;
  Operation& operation = this->operation(pending);
  operation.answered = ++workload_.moment;
  if (!decode_answer(response.payload, operation)) {
    violation_ = "operation " + std::to_string(pending.number) + " has an answer that does not fit";
    return;
  }
  environment_.checkers.revisions.answered(pending.number, operation, workload_.floors[pending.number - 1]);
  const bool read = operation.kind == Operation::Kind::kRead;
  ++(read ? workload_.reads : workload_.writes);
  const bool wrote = operation.kind == Operation::Kind::kWrite || operation.succeeded;
  last_seen_[operation.key] = wrote ? operation.written : operation.found;
  if (!read) environment_.checkers.effects.acknowledged(pending.number);
  if (environment_.traces()) environment_.trace("operation " + std::to_string(pending.number) + " is answered");
}

// A replica that names itself although it does not lead knows nothing better.
void Client::follow(const Response& response, Pending& pending, int from, TimeNs now) {
  const int hint = response.leader.value();
  if (leader_ == pending.target) leader_ = hint != from && hint < replicas_ ? hint : any_replica();
  pending.retry_at = std::min(pending.retry_at,
                              now + 1 + prng_.below(kRedirectNsMax << std::min(pending.attempts, kRedirectDoublings)));
  pending.target = -1;  // so that a retry does not blame the leader
}

void Client::call(TimeNs now) {
  Operation operation;
  draw(operation);
  if (operation.kind != Operation::Kind::kRead) --workload_.writes_left;
  operation.invoked = ++workload_.moment;
  Pending pending;
  pending.number = static_cast<Value>(workload_.history.size() + 1);
  pending.sequence = next_sequence_++;
  if (operation.kind != Operation::Kind::kRead) operation.written = pending.number;
  workload_.numbers[static_cast<std::size_t>(number_)].push_back(pending.number);
  workload_.history.push_back(operation);
  workload_.floors.push_back(environment_.checkers.revisions.floor());
  ++workload_.open;
  pending_.push_back(pending);
  attempt(pending_.back(), now);
  if (!hurries_ && prng_.chance(schedule_.bursts)) next_call_ = now + prng_.below(2 * schedule_.pause_ns);
}

void Client::draw(Operation& operation) {
  operation.client = static_cast<std::uint32_t>(number_);
  operation.key = static_cast<std::uint32_t>(prng_.below(schedule_.keys));
  if (prng_.chance(schedule_.reads)) {
    operation.kind = Operation::Kind::kRead;
  } else if (prng_.chance(schedule_.compares)) {
    operation.kind = Operation::Kind::kCompareAndWrite;
    operation.expected = last_seen_[operation.key];
  } else {
    operation.kind = Operation::Kind::kWrite;
  }
}

void Client::attempt(Pending& pending, TimeNs now) {
  const Operation& operation = this->operation(pending);
  const std::string payload = encode_operation(operation);
  const bool read = operation.kind == Operation::Kind::kRead;
  Request request;
  request.kind = read ? RequestKind::kLinearizableQuery : Request::Kind::kCommand;
  request.client = static_cast<std::uint64_t>(number_);
  request.sequence = pending.sequence;
  request.acknowledged_below = read ? 0 : acknowledged_below();
  request.reply_to = EndpointId(static_cast<std::uint16_t>(endpoint()));
  request.responder = EndpointId(static_cast<std::uint16_t>((acceptor_ + pending.attempts) % replicas_));
  request.payload = payload;
  pending.target = read && schedule_.reads_anywhere ? any_replica() : leader_;
  if (pending.attempts > 0) ++workload_.repeats;
  pending.retry_at =
      now + std::min(schedule_.retry_max_ns, schedule_.retry_ns << std::min(pending.attempts, kRetryDoublings)) +
      prng_.below(schedule_.retry_ns);
  ++pending.attempts;
  if (environment_.traces()) {
    environment_.trace("operation " + std::to_string(pending.number) + (read ? " (read)" : " (write)") +
                        " asks replica " + std::to_string(pending.target));
  }
  environment_.network.send(endpoint(), pending.target, std::make_shared<const std::string>(encode(request)), now);
}

std::uint64_t Client::acknowledged_below() const {
  std::uint64_t lowest = next_sequence_;
  for (const Pending& pending : pending_) lowest = std::min(lowest, pending.sequence);
  return lowest;
}

void Client::schedule() {
  next_poll_ = kNever;
  for (const Pending& pending : pending_) next_poll_ = std::min(next_poll_, pending.retry_at);
  if (workload_.writes_left > 0 && pending_.size() < static_cast<std::size_t>(schedule_.window)) {
    next_poll_ = std::min(next_poll_, next_call_);
  }
}

}  // namespace ingot::simulation
