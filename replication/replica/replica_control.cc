// A replica's part in what operators ask and want to know.
#include "replication/requests/move_request.h"
#include "replication/replica/replica.h"

namespace ingot {

// Agreement's own word is the answer, given at once: the status shows when it is done.
void Replica::receive_move(const Request& request) {
  const auto move = decode_move(request.payload);
  if (!move) return respond(request.reply_to, request.sequence, Response::Status::kRefused, {});
  const absl::Status answer = parts_.agreement->move(move->role, move->to, effects_);
  respond(request.reply_to, request.sequence, Response::Status::kOk, encode_move_answer(answer));
}

void Replica::tell_operator(const Effects& effects) {
  if (effects.suspects.empty() && effects.fence.empty()) return;
  (*parts_.page)[ReplicaCounter::kSuspicions].add(effects.suspects.size());
  for (const EndpointId suspect : effects.suspects) log_.suspected(suspect);
  if (!parts_.fence) return;
  for (const ReplicaIncarnation& name : effects.fence) {
    const bool killed = parts_.fence(name);
    if (killed) (*parts_.page)[ReplicaCounter::kFenced].add(1);
    log_.fenced(name, killed);
  }
}

void Replica::tell_of_status(std::uint64_t now_ns) { log_.observe(parts_.agreement->status(), now_ns); }

}  // namespace ingot
