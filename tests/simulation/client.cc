#include "tests/simulation/client.h"

#include <utility>

#include "core/check.h"
#include "core/wire.h"
#include "replication/requests/request.h"
#include "tests/simulation/kv_operations.h"

namespace ingot::simulation {

namespace {

constexpr int kMessagesMax = 1024;  // of one poll

SessionCore::Options session_options(int number, int replicas, const ClientSchedule& schedule) {
  SessionCore::Options options;
  options.replicas = replicas;
  options.session = static_cast<std::uint64_t>(number);
  options.self = EndpointId(static_cast<std::uint16_t>(replicas + number));
  options.acceptor = EndpointId(static_cast<std::uint16_t>(replicas > 1 ? 1 : 0));
  options.bounds = schedule.session;
  options.told_applied = true;
  return options;
}

}  // namespace

Client::Client(int number, int replicas, const ClientSchedule& schedule, std::uint64_t seed, Environment& environment,
               Workload& workload)
    : number_(number),
      replicas_(replicas),
      schedule_(schedule),
      prng_(seed),
      environment_(environment),
      workload_(workload),
      transport_(replicas + number, environment.network, kMessagesMax),
      outbox_(transport_, schedule.outbox),
      core_(session_options(number, replicas, schedule)),
      present_(static_cast<std::size_t>(replicas), Incarnation(1)),
      newest_(present_),
      last_seen_(schedule.keys) {}

void Client::poll(TimeNs now) {
  now_ = now;
  for (const Notice& notice : std::exchange(notices_, {})) handle(notice, now);
  transport_.probe(
      [&](EndpointId from, std::span<const std::byte> message) {
        core_.receive(from, as_view(message), now);
        execute(now);
      },
      kMessagesMax);
  go_over_to_replicas();
  note_applied();
  outbox_.flush([](EndpointId) {});  // dropped requests are sent again by the session
  core_.tick(now, [this](EndpointId replica) { return outbox_.waits_for(replica); });
  execute(now);
  while (may_call() && next_call_ <= now) call(now);
  schedule();
}

bool Client::may_flush() const {
  if (outbox_.empty()) return false;
  for (std::uint16_t replica = 0; replica < replicas_; ++replica) {
    if (outbox_.waits_for(EndpointId(replica)) && transport_.has_room(EndpointId(replica))) return true;
  }
  return false;
}

// ---- Replicas that die and come back --------------------------------------------------------------------------------

void Client::handle(const Notice& notice, TimeNs now) {
  Incarnation& newest = newest_[notice.name.id.value()];
  if (notice.kind == Notice::Kind::kBegins && notice.name.incarnation > newest) {
    died(notice.name.id, now);
    newest = notice.name.incarnation;
  } else if (notice.kind == Notice::Kind::kDied && notice.name.incarnation == newest) {
    died(notice.name.id, now);
  } else if (notice.name.incarnation == newest && transport_.is_open(notice.name.id)) {
    if (notice.kind == Notice::Kind::kStopped) core_.replica_stopped(notice.name.id, now);
    if (notice.kind == Notice::Kind::kContinued) core_.replica_continued(notice.name.id);
  }
}

std::string Client::describe() const {
  const Routing& routing = core_.routing();
  std::string text = "client " + std::to_string(number_) + ": asks replica " + std::to_string(routing.leader().value());
  for (std::uint16_t id = 0; id < replicas_; ++id) {
    const EndpointId replica(id);
    if (routing.doubted(replica)) text += ", doubts " + std::to_string(id);
    if (routing.dead(replica)) text += ", thinks that " + std::to_string(id) + " is dead";
    if (!transport_.is_open(replica)) text += ", has no channel to " + std::to_string(id);
    if (outbox_.waits_for(replica)) text += ", has a backlog to " + std::to_string(id);
  }
  return text;
}

void Client::died(EndpointId replica, TimeNs now) {
  if (!transport_.is_open(replica)) return;
  transport_.peer_gone(replica);
  outbox_.forget(replica);
  core_.replica_died(replica, now);
}

// As PeerIncarnations does: all messages of the former incarnation are handled first.
void Client::go_over_to_replicas() {
  for (std::uint16_t id = 0; id < replicas_; ++id) {
    const EndpointId replica(id);
    if (present_[id] == newest_[id] || !transport_.settled(replica)) continue;
    present_[id] = newest_[id];
    transport_.open(replica);
    outbox_.revive(replica);
    core_.replica_restarted(replica, /*lags=*/true, now_);
  }
}

void Client::note_applied() {
  const Routing& routing = core_.routing();
  for (std::uint16_t id = 0; routing.any_lags() && id < replicas_; ++id) {
    const EndpointId replica(id);
    const ReplicaPage& page = *environment_.pages[id];
    if (routing.dead(replica) || !routing.lags(replica) || page.incarnation.get() != present_[id].value()) continue;
    core_.replica_applied(replica, Slot(page[ReplicaCounter::kAppliedSlots].get()));
  }
}

// ---- What the session asks for --------------------------------------------------------------------------------------

void Client::execute(TimeNs) {
  while (auto action = core_.next()) {
    if (const auto* message = std::get_if<SessionCore::Send>(&*action)) {
      send(*message);
    } else {
      std::get<SessionCore::Answer>(*action).deliver();
    }
  }
}

void Client::send(const SessionCore::Send& send) {
  ++workload_.repeats;  // too high by each first send, which call() takes off again
  EndpointId to = send.to;
  if (schedule_.reads_anywhere || environment_.traces()) {
    const std::string bytes = send.message.joined();
    const auto request = decode_request(bytes);
    INGOT_CHECK(request, "a session sends requests");
    const bool read = request->kind == RequestKind::kLinearizableQuery;
    if (read && schedule_.reads_anywhere) {
      to = EndpointId(static_cast<std::uint16_t>(prng_.below(static_cast<std::uint64_t>(replicas_))));
    }
    if (environment_.traces()) {
      environment_.trace("client " + std::to_string(number_) + " asks replica " + std::to_string(to.value()) + " for " +
                          (read ? std::string("a read")
                                : "operation " + std::to_string(environment_.operation_of(
                                                     request->client, request->sequence))));
    }
  }
  outbox_.send(to, send.message);
}

void Client::call(TimeNs now) {
  Operation operation;
  draw(operation);
  const bool read = operation.kind == Operation::Kind::kRead;
  operation.invoked = ++workload_.moment;
  const auto number = static_cast<Value>(workload_.history.size() + 1);
  if (!read) {
    --workload_.writes_left;
    operation.written = number;
    workload_.commands[static_cast<std::size_t>(number_)].push_back(number);
  }
  workload_.history.push_back(operation);
  workload_.floors.push_back(environment_.checkers.revisions.floor());
  ++workload_.open;
  --workload_.repeats;
  SessionCore::Callback callback = [this, number](const ReplicaReply& reply) { answered(number, reply); };
  const bool taken = core_.submit(read ? RequestKind::kLinearizableQuery : RequestKind::kCommand,
                                  encode_operation(operation), callback, ReplicaClient::kAnyReplica, now);
  INGOT_CHECK(taken, "a client's window is smaller than its session's bounds");
  execute(now);
  if (!hurries_ && prng_.chance(schedule_.bursts)) next_call_ = now + prng_.below(2 * schedule_.pause_ns);
}

void Client::draw(Operation& operation) {
  operation.client = static_cast<std::uint32_t>(number_);
  operation.key = static_cast<std::uint32_t>(prng_.below(schedule_.keys));
  if (refused_at_ != 0 && prng_.chance(0.3)) {
    operation.kind = std::exchange(compacted_, !compacted_) ? Operation::Kind::kDisarm : Operation::Kind::kCompact;
    operation.expected = static_cast<Value>(refused_at_);
    if (!compacted_) refused_at_ = 0;
  } else if (churned_at_ != 0 && prng_.chance(schedule_.compacts)) {
    operation.kind = Operation::Kind::kCompact;
    operation.expected = static_cast<Value>(std::exchange(churned_at_, 0));
  } else if (schedule_.churns > 0 && prng_.chance(schedule_.churns)) {
    operation.kind = Operation::Kind::kChurn;
  } else if (prng_.chance(schedule_.reads)) {
    operation.kind = Operation::Kind::kRead;
  } else if (prng_.chance(schedule_.compares)) {
    operation.kind = Operation::Kind::kCompareAndWrite;
    operation.expected = last_seen_[operation.key];
  } else {
    operation.kind = Operation::Kind::kWrite;
  }
}

// An operation whose outcome is unknown may take effect later, or never; a refused one must not.
void Client::answered(Value number, const ReplicaReply& reply) {
  --workload_.open;
  const bool read = operation(number).kind == Operation::Kind::kRead;
  if (!read && reply.outcome != ReplicaReply::Outcome::kOk) ++workload_.unacknowledged_writes;
  switch (reply.outcome) {
    case ReplicaReply::Outcome::kOk:
      return finish(number, reply);
    case ReplicaReply::Outcome::kUnknown:
      ++workload_.unknown;
      if (schedule_.session.timeout_ms < kTimeoutMsNever) return;
      violation_ = "exactly once: operation " + std::to_string(number) +
                   " is refused, or its result is gone though it was never acknowledged";
      return;
    case ReplicaReply::Outcome::kOverloaded:
    case ReplicaReply::Outcome::kBlocked:
      if (!read) environment_.checkers.effects.refused(number);
      return;
  }
}

void Client::finish(Value number, const ReplicaReply& reply) {
  Operation& operation = this->operation(number);
  operation.answered = ++workload_.moment;
  if (!decode_answer(reply.payload, operation)) {
    violation_ = "operation " + std::to_string(number) + " has an answer that does not fit";
    return;
  }
  environment_.checkers.revisions.answered(number, operation, workload_.floors[number - 1]);
  const bool read = operation.kind == Operation::Kind::kRead;
  ++(read ? workload_.reads : workload_.writes);
  if (operation.no_space) {
    ++workload_.no_space;
    if (refused_at_ == 0) refused_at_ = operation.revision;
  } else if (operation.kind == Operation::Kind::kChurn) {
    churned_at_ = operation.revision;
  } else if (of_register(operation)) {
    last_seen_[operation.key] = wrote(operation) ? operation.written : operation.found;
  }
  if (!read) environment_.checkers.effects.acknowledged(number);
  if (environment_.traces()) environment_.trace("operation " + std::to_string(number) + " is answered");
}

void Client::schedule() {
  next_poll_ = core_.deadline_ns();
  if (may_call()) next_poll_ = std::min(next_poll_, next_call_);
}

}  // namespace ingot::simulation
