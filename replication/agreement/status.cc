#include "replication/agreement/status.h"

#include <utility>

namespace ingot::inline replication_agreement {

namespace {

struct Texts {
  std::string_view why;
  std::string_view end;
};

Texts texts_of(Blocked why) {
  switch (why) {
    case Blocked::kNo:
      return {};
    case Blocked::kParticipant:
      return {"a participant does not answer", "it ends when that replica goes on"};
    case Blocked::kCoordinator:
      return {"the coordinator does not answer", "it ends when the coordinator goes on"};
    case Blocked::kNoMajority:
      return {"a change of leader or acceptor waits for a majority of the voters",
              "it ends when more than half of the voters run"};
    case Blocked::kAcceptor:
      return {"the acceptor does not answer, and is not replaced",
              "it ends when the acceptor goes on, or a majority of the voters replaces it"};
    case Blocked::kFormerLeader:
      return {"the acceptor does not answer, and a former leader that may have used it is stopped",
              "it ends when one of the two goes on or is killed"};
    case Blocked::kSegmentMissing:
      return {"the segment of a dead replica is needed and cannot be read",
              "it ends when another replica that knows its content goes on"};
    case Blocked::kCatchingUp:
      return {"the leader lacks decided slots that it must know before it goes on",
              "it ends when a replica that has them goes on"};
    case Blocked::kNoCandidate:
      return {"no other voter is there that could be the acceptor", "it ends when another voter runs"};
    case Blocked::kVoters:
      return {"too few of the voters answer", "it ends when more than half of the voters run"};
    case Blocked::kParticipantDead:
      return {"a participant is dead, and two-phase commit decides nothing without all of them",
              "it does not end: start a new instance"};
    case Blocked::kCoordinatorDead:
      return {"the coordinator is dead, and in two-phase commit no other replica may decide",
              "it does not end: start a new instance"};
    case Blocked::kLeaderSilent:
      return {"the leader does not answer, and no other replica has taken its place",
              "it ends when the leader, or another voter that may lead, goes on"};
    case Blocked::kLeaderDead:
      return {"the leader is dead, and no other replica has taken its place",
              "it ends when another voter that may lead goes on or is restarted"};
    case Blocked::kSegmentUnread:
      return {"the segment of a dead replica is needed and is not read yet",
              "it ends when the kernel has ended that process"};
    case Blocked::kNoRoom:
      return {"the stable segment of the leader or of the acceptor is too full to propose",
              "it ends when the living voters have applied what it holds, and a snapshot of that is published"};
    case Blocked::kLoading:
      return {"this replica loads the state, and may not lead before", "it ends when the state is loaded"};
    case Blocked::kSteppedDown:
      return {"the leader has stepped down for a successor that it does not hear from",
              "it ends when the successor goes on"};
    case Blocked::kSegmentsKept:
      return {"the segments of ended incarnations take too much memory, or are too many",
              "it ends when a snapshot that holds what they hold is published"};
    case Blocked::kUnexplained:
      return {"commands wait at the leader, and agreement names no cause", "it is a bug: please report it"};
  }
  return {"unknown", "unknown"};
}

}  // namespace

std::string_view text_of(Blocked why) { return texts_of(why).why; }

std::string_view end_of(Blocked why) { return texts_of(why).end; }

std::string name_replicas(ReplicaSet replicas) {
  std::string text = replicas.size() == 1 ? "replica " : "replicas ";
  bool first = true;
  for (const EndpointId replica : replicas) {
    if (!std::exchange(first, false)) text += ", ";
    text += std::to_string(replica.value());
  }
  return text;
}

std::string describe_blocked(const AgreementStatus& status) {
  if (!status.blocked) return "";
  std::string text(text_of(status.why));
  const std::uint64_t from = status.blocked_from.value();
  const std::uint64_t to = status.blocked_to.value();
  if (from + 1 == to) text += "; slot " + std::to_string(from) + " waits";
  if (from + 1 < to) text += "; slots " + std::to_string(from) + " to " + std::to_string(to - 1) + " wait";
  if (status.blocked_ms > 0) text += "; nothing was decided for " + std::to_string(status.blocked_ms) + " ms";
  return text + "; " + std::string(end_of(status.why));
}

std::string explain_blocked(const AgreementStatus& status) {
  if (!status.blocked) return "";
  if (status.blocked_by.empty()) return describe_blocked(status);
  return "waits for " + name_replicas(status.blocked_by) + ": " + describe_blocked(status);
}

// A replica that is itself what is waited for, as a new incarnation in 2PC, is not said to wait for itself.
std::string blocked_sentence(EndpointId replica, const AgreementStatus& status) {
  if (!status.blocked) return "";
  const bool others = !(status.blocked_by - ReplicaSet::of(replica)).empty();
  return "replica " + std::to_string(replica.value()) +
         " is blocked: " + (others ? "it " + explain_blocked(status) : describe_blocked(status));
}

}  // namespace ingot::replication_agreement
