#include "replication/replica/requests.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/wire.h"
#include "replication/agreement/move_request.h"
#include "replication/replica/limits.h"
#include "replication/replica/state_clock.h"
#include "replication/replica/trees/router.h"
#include "replication/requests/floor.h"
#include "replication/requests/limits.h"

namespace ingot::inline replication_replica {

using Status = Response::Status;

void Requests::receive(EndpointId from, std::string_view message, bool starting, std::uint64_t now_ns) {
  const auto request = decode_request(message);
  const bool valid = request && request->reply_to == from && !context_.peers.is_replica(from) &&
                     context_.peers.is_replica(request->responder);
  if (!valid) {
    ++refused_;
    return;
  }
  switch (request->kind) {
    case RequestKind::kCommand:
      return receive_command(*request);
    case RequestKind::kLinearizableQuery:
      return receive_linearizable_query(*request);
    case RequestKind::kLocalQuery:
      // Answered from the present state, unless this replica has just restarted: then the state may be very old.
      if (starting) return void(respond(from, request->sequence, Status::kBusy));
      return receive_local_query(*request, now_ns);
    case RequestKind::kDigest:
      return void(respond(from, request->sequence, Status::kOk, WireWriter().u64(context_.applier.digest()).take()));
    case RequestKind::kMove:
      return receive_move(*request);
    case RequestKind::kStandingQuery:
      if (starting) return void(respond(from, request->sequence, Status::kBusy));
      return receive_standing(*request, now_ns);
  }
}

// Tree changes and ticks are commands, too, but only replicas may propose them, so a client's are refused.
void Requests::receive_command(const Request& request) {
  const bool own = request.client == kTreeClient || request.client == kClockClient;
  if (own || is_tree_change(request.payload) || is_tick(request.payload)) {
    ++refused_;
    return;
  }
  proposals_.note_leadership([this](const Request& command) { turn_away(command); });
  if (context_.agreement.role() != Role::kLeader) {
    respond(request.reply_to, request.sequence, Status::kNotLeader);
    context_.agreement.client_waits(context_.effects);
  } else if (proposals_.add(request) == Batcher::Added::kFull) {
    respond(request.reply_to, request.sequence, Status::kBusy);
  }
}

// The core looks at it in this round, when the answers before it have left.
void Requests::receive_standing(const Request& request, std::uint64_t now_ns) {
  std::unique_ptr<StandingQuery> query = context_.state.stand(request.payload);
  if (query == nullptr) return void(respond(request.reply_to, request.sequence, Status::kRefused));
  standing_.park(request.reply_to, request.sequence, std::move(query), now_ns);
  new_standing_ = true;
}

void Requests::turn_away(const Request& command) { respond(command.reply_to, command.sequence, Status::kNotLeader); }

void Requests::receive_linearizable_query(const Request& request) {
  const auto read_id = reads_.add({request.reply_to, request.sequence, std::string(request.payload)});
  if (!read_id) return void(respond(request.reply_to, request.sequence, Status::kBusy));
  context_.agreement.read(*read_id, context_.effects);
  if (context_.agreement.role() != Role::kLeader) context_.agreement.client_waits(context_.effects);
}

void Requests::receive_local_query(const Request& request, std::uint64_t now_ns) {
  const Slot floor = floor_of(request);
  if (floor <= context_.applier.applied()) return answer_query(request.reply_to, request.sequence, request.payload);
  PendingRead read{request.reply_to, request.sequence, std::string(request.payload)};
  if (!floor_reads_.add(floor, std::move(read), now_ns)) {
    return void(respond(request.reply_to, request.sequence, Status::kBusy));
  }
  // Nothing may come from a leader that has died, and then this is the only sign of a client that waits for it.
  if (context_.agreement.role() != Role::kLeader) context_.agreement.client_waits(context_.effects);
}

// The answer is agreement's verdict on the request, given at once. The status shows when the move is done.
void Requests::receive_move(const Request& request) {
  const auto move = decode_move(request.payload);
  if (!move) return void(respond(request.reply_to, request.sequence, Status::kRefused));
  const absl::Status answer = context_.agreement.move(move->role, move->to, context_.effects);
  respond(request.reply_to, request.sequence, Status::kOk, encode_move_answer(answer));
}

void Requests::applied(Slot slot, const Applier::Applied& applied) {
  proposals_.applied(applied.request);
  if (sink_ != nullptr) sink_->applied(slot, applied);
  if (!answers(applied.request)) return;
  respond_at(slot.next(), applied.request.reply_to, applied.request.sequence, applied.status, applied.result);
}

// The leader answers in place of a responder that lags or is silent. If the responder answers, too, the client drops
// the second answer.
bool Requests::answers(const Request& request) const {
  if (context_.is_self(request.responder)) return true;
  if (!context_.peers.is_replica(request.responder)) return false;  // a replica's own: no client waits for it
  const bool missing = context_.peers.lagging(request.responder) || context_.peers.silent(request.responder);
  return missing && context_.agreement.role() == Role::kLeader;
}

void Requests::reject(const Rejection& rejection) {
  const auto read = reads_.remove(rejection.id);
  if (!read) return;
  respond(read->reply_to, read->sequence,
          rejection.why == Rejection::Why::kBusy ? Status::kBusy : Status::kNotLeader);
}

bool Requests::answer_read(std::uint64_t now_ns) {
  auto read = reads_.take_answerable(context_.applier.applied());
  if (!read) read = floor_reads_.take_answerable(context_.applier.applied());
  if (read) {
    answer_query(read->reply_to, read->sequence, read->query);
    return true;
  }
  new_standing_ = false;
  return standing_.answer_next(now_ns, [this](EndpointId client, std::uint64_t sequence, std::string_view answer) {
    return respond(client, sequence, Status::kOk, answer);
  });
}

// A client that asks again waits for the same answer.
void Requests::answer_query(EndpointId client, std::uint64_t sequence, std::string_view query) {
  std::unique_ptr<QueryInSteps> in_steps = context_.state.query_in_steps(query);
  if (in_steps == nullptr) return void(respond(client, sequence, Status::kOk, context_.state.query(query)));
  const auto is_same = [&](const LongQuery& each) { return each.client == client && each.sequence == sequence; };
  if (std::any_of(long_queries_.begin(), long_queries_.end(), is_same)) return;
  if (long_queries_.size() >= kLongQueriesMax) return void(respond(client, sequence, Status::kBusy));
  long_queries_.push_back({client, sequence, std::move(in_steps), 0});
}

bool Requests::go_on_with_query(std::uint64_t now_ns, StepBudget& steps) {
  if (long_queries_.empty()) return false;
  LongQuery next = std::move(long_queries_.front());
  long_queries_.pop_front();
  if (next.until_ns == 0) next.until_ns = now_ns + kLongQueryMs * 1'000'000;
  if (now_ns >= next.until_ns) {
    respond(next.client, next.sequence, Status::kBusy);
  } else if (const std::optional<std::string> answer = next.query->go_on(steps)) {
    respond(next.client, next.sequence, Status::kOk, *answer);
  } else {
    const std::size_t begun = std::min(long_queries_.size(), kLongQueriesBegunMax - 1);
    long_queries_.insert(long_queries_.begin() + static_cast<std::ptrdiff_t>(begun), std::move(next));
  }
  steps.take();
  return true;
}

bool Requests::respond(EndpointId to, std::uint64_t sequence, Status status, std::string_view payload) {
  return respond_at(context_.applier.applied(), to, sequence, status, payload);
}

bool Requests::respond_at(Slot applied, EndpointId to, std::uint64_t sequence, Status status,
                          std::string_view payload) {
  if (!is_client(to)) return false;
  // The answers of one slot wait here together. Beyond the bound of a backlog they are dropped, and the client asks
  // again.
  if (context_.queue.buffered_bytes() + payload.size() > kBacklogBytesMax) {
    ++dropped_;
    return false;
  }
  Response response;
  response.status = status;
  response.sequence = sequence;
  response.slot = applied;
  response.leader = context_.agreement.leader();
  response.acceptor = context_.agreement.acceptor();
  response.payload = payload;
  context_.queue.send_written(to, [&](std::string& out) { append(response, out); });
  context_.page[ReplicaCounter::kAnsweredRequests].add(1);
  return true;
}

}  // namespace ingot::replication_replica
