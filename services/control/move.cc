#include "services/control/move.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replication/agreement/move_request.h"
#include "services/status/status.h"

namespace ingot::inline services_control {

namespace {

using control_v1::MoveRequest;
using control_v1::MoveResponse;
using control_v1::Replica;

const char* state_text(control_v1::State state) {
  switch (state) {
    case control_v1::STATE_STOPPED:
      return " is stopped";
    case control_v1::STATE_STARTING:
      return " is only starting";
    default:
      return " is dead";
  }
}

// The running leader in the newest configuration; null: there is none.
const Replica* leader_in(const control_v1::GetStatusResponse& status) {
  const Replica* leader = nullptr;
  for (const Replica& replica : status.replicas()) {
    if (!leads(replica)) continue;
    const auto rank = [](const Replica& of) { return std::tuple(of.epoch(), of.ballot()); };
    if (leader == nullptr || rank(replica) > rank(*leader)) leader = &replica;
  }
  return leader;
}

absl::StatusOr<EndpointId> whom_to_ask(const MoveRequest& request, const control_v1::GetStatusResponse& status) {
  if (request.role() != control_v1::ROLE_LEADER && request.role() != control_v1::ROLE_ACCEPTOR) {
    return absl::InvalidArgumentError("only leader and acceptor can be moved");
  }
  const auto replicas = static_cast<std::uint32_t>(status.replicas_size());
  if (request.to() >= replicas) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no replica ", request.to(), "; replicas are 0 to ", replicas - 1));
  }
  const Replica& to = status.replicas(static_cast<int>(request.to()));
  if (to.state() != control_v1::STATE_UP) {
    return absl::FailedPreconditionError(absl::StrCat("replica ", to.id(), state_text(to.state())));
  }
  if (request.role() == control_v1::ROLE_LEADER) return EndpointId(static_cast<std::uint16_t>(to.id()));
  const Replica* leader = leader_in(status);
  if (leader == nullptr)
    return absl::FailedPreconditionError("nobody leads now, and the leader is who moves that role");
  return EndpointId(static_cast<std::uint16_t>(leader->id()));
}

absl::Status outcome_of(const ReplicaReply& reply, EndpointId asked) {
  const std::string nobody_knows = "; whether it has begun a change, the status shows";
  switch (reply.outcome) {
    case ReplicaReply::Outcome::kOverloaded:
      return absl::UnavailableError("too many requests; try again");
    case ReplicaReply::Outcome::kBlocked:
      return absl::UnavailableError(std::string(reply.payload));
    case ReplicaReply::Outcome::kUnknown:
      return absl::UnavailableError(absl::StrCat("replica ", asked.value(), " did not answer", nobody_knows));
    case ReplicaReply::Outcome::kOk:
      break;
  }
  const auto answer = decode_move_answer(reply.payload);
  if (answer) return *answer;
  return absl::UnavailableError(
      absl::StrCat("replica ", asked.value(), " gave an answer that cannot be read", nobody_knows));
}

}  // namespace

void move_role(ReplicaClient& client, const MoveRequest& request, const control_v1::GetStatusResponse& status,
               std::function<void(const absl::StatusOr<MoveResponse>&)> done) {
  const auto asked = whom_to_ask(request, status);
  if (!asked.ok()) return done(asked.status());
  MoveResponse begun;
  begun.set_asked(asked->value());
  for (const Replica& replica : status.replicas()) {
    begun.set_epoch(std::max<std::uint64_t>(begun.epoch(), replica.epoch()));
    begun.set_ballot(std::max<std::uint64_t>(begun.ballot(), replica.ballot()));
  }
  const Role role = request.role() == control_v1::ROLE_LEADER ? Role::kLeader : Role::kAcceptor;
  const RoleMove move{role, EndpointId(static_cast<std::uint16_t>(request.to()))};
  client.submit(
      RequestKind::kMove, encode_move(move),
      [begun, asked = *asked, done = std::move(done)](const ReplicaReply& reply) {
        const absl::Status outcome = outcome_of(reply, asked);
        const bool already = absl::IsAlreadyExists(outcome);
        if (!outcome.ok() && !already) return done(outcome);
        MoveResponse answer = begun;
        answer.set_already(already);
        done(answer);
      },
      *asked);
}

}  // namespace ingot::services_control
