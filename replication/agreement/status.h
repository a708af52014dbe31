// An agreement's status, for `ingotctl status`, metrics and logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/types.h"

namespace ingot {

enum class Role : std::uint8_t { kReplica = 0, kLeader = 1, kAcceptor = 2 };

// Why no slot can be decided. The numbers are exported and never change their meaning.
enum class Blocked : std::uint8_t {
  kNo = 0,
  kParticipant = 1,     // 2PC: a participant does not answer
  kCoordinator = 2,     // 2PC: the coordinator does not answer, participants are in doubt
  kNoMajority = 3,      // a change of leader or acceptor waits for a majority of the voters
  kAcceptor = 4,        // the acceptor is stopped, and so is the replica that could tell what it holds
  kFormerLeader = 5,    // the acceptor does not answer, and a former leader that may have used it is stopped
  kSegmentMissing = 6,  // what a dead replica stored is needed, and its segment cannot be read
  kCatchingUp = 7,      // the new leader lacks decided slots that it must know before it may lead
  kNoCandidate = 8,     // no replica is up that could be the acceptor
  kVoters = 9,          // Multi-Paxos: the leader has no majority of the voters
  kParticipantDead = 10,  // 2PC: a participant is dead: no write commits without it
  kCoordinatorDead = 11,  // 2PC: the coordinator is dead: what it had prepared stays in doubt
};

// A clause for the operator, such as "the acceptor does not answer, and ...". Empty for kNo.
std::string_view text_of(Blocked why);

struct AgreementStatus {
  Role role = Role::kReplica;
  EndpointId leader;    // as known on this replica
  EndpointId acceptor;  // likewise; the leader itself in protocols without one
  Epoch epoch;
  Ballot ballot;
  Slot proposed;  // next slot to propose (leader) or vote for; slots below it were proposed
  Slot decided;   // slots below it are decided here, contiguously
  bool blocked = false;   // decisions wait for a replica that does not answer
  EndpointId blocked_by;  // valid if blocked
  Blocked why = Blocked::kNo;  // kNo unless blocked
  std::uint64_t blocked_ticks = 0;  // ticks without a decision; 0 also while no tick is wanted
  Slot blocked_from;  // slots [from, to) are proposed or prepared here and wait; from == to: none
  Slot blocked_to;

  bool frozen = false;       // leads, but waits for the outcome of a change of acceptor: no proposals, no reads
  bool taking_over = false;  // is the named leader, but does not know yet all that its predecessors may have proposed
  bool caught_up = true;     // false: a new incarnation that has not yet learned what the others have decided
  std::uint64_t configuration = 0;  // index of the newest configuration entry known here; 0: none
  Incarnation leader_incarnation{1};
  Incarnation acceptor_incarnation{1};
  bool deposed = false;    // has led, and another replica leads now:
  EndpointId deposed_by;   // valid if deposed
};

// A clause for the operator: why, which slots wait, and for how long no slot was decided. Empty unless blocked. All
// texts about blocked replicas come from here.
std::string describe_blocked(const AgreementStatus& status);

// The same, with the replica that is waited for: "waits for replica 2: ...".
std::string explain_blocked(const AgreementStatus& status);

// As a sentence about the replica whose status it is: "replica 1 is blocked: it waits for replica 2: ...".
std::string blocked_sentence(EndpointId replica, const AgreementStatus& status);

}  // namespace ingot
