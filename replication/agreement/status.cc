#include "replication/agreement/status.h"

#include "replication/agreement/limits.h"


namespace ingot {

std::string_view text_of(Blocked why) {
  switch (why) {
    case Blocked::kNo:
      return "";
    case Blocked::kParticipant:
      return "a participant does not answer";
    case Blocked::kCoordinator:
      return "the coordinator does not answer, and prepared commands are in doubt";
    case Blocked::kNoMajority:
      return "a change of leader or acceptor waits for a majority of the voters";
    case Blocked::kAcceptor:
      return "the acceptor is stopped, and nobody else can say what it holds";
    case Blocked::kFormerLeader:
      return "the acceptor does not answer, and a former leader that may have used it is stopped";
    case Blocked::kSegmentMissing:
      return "the segment of a dead replica is needed and cannot be read";
    case Blocked::kCatchingUp:
      return "the new leader lacks decided slots that it must know before it may lead";
    case Blocked::kNoCandidate:
      return "no other voter is there that could be the acceptor";
    case Blocked::kVoters:
      return "too few of the voters answer";
    case Blocked::kParticipantDead:
      return "a participant is dead, and two-phase commit decides nothing without all of them";
    case Blocked::kCoordinatorDead:
      return "the coordinator is dead, and in two-phase commit nobody else may decide";
  }
  return "unknown";
}

std::string describe_blocked(const AgreementStatus& status) {
  if (!status.blocked) return "";
  std::string text(text_of(status.why));
  const std::uint64_t from = status.blocked_from.value();
  const std::uint64_t to = status.blocked_to.value();
  if (from + 1 == to) text += "; slot " + std::to_string(from) + " waits";
  if (from + 1 < to) text += "; slots " + std::to_string(from) + " to " + std::to_string(to - 1) + " wait";
  const std::uint64_t blocked_ms = status.blocked_ticks * kTickMs;
  if (blocked_ms > 0) text += "; nothing was decided for " + std::to_string(blocked_ms) + " ms";
  return text;
}

std::string explain_blocked(const AgreementStatus& status) {
  if (!status.blocked) return "";
  return "waits for replica " + std::to_string(status.blocked_by.value()) + ": " + describe_blocked(status);
}

// A replica that names itself in blocked_by waits for no particular replica.
std::string blocked_sentence(EndpointId replica, const AgreementStatus& status) {
  if (!status.blocked) return "";
  const bool nobody = status.blocked_by == replica;
  return "replica " + std::to_string(replica.value()) +
         " is blocked: " + (nobody ? describe_blocked(status) : "it " + explain_blocked(status));
}

}  // namespace ingot
