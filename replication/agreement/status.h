// An agreement's status, for `ingotctl status`, metrics and logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/replica_set.h"
#include "core/types.h"

namespace ingot::inline replication_agreement {

enum class Role : std::uint8_t { kReplica = 0, kLeader = 1, kAcceptor = 2 };

// What the next decision waits for. The numbers are exported and never change their meaning.
enum class Blocked : std::uint8_t {
  kNo = 0,
  kParticipant = 1,     // 2PC: a participant does not answer
  kCoordinator = 2,     // 2PC: the coordinator does not answer
  kNoMajority = 3,      // a change of leader or acceptor waits for a majority of the voters
  kAcceptor = 4,        // the acceptor does not answer
  kFormerLeader = 5,    // the acceptor does not answer, and a former leader that may have used it is stopped
  kSegmentMissing = 6,  // what a dead replica stored is needed, and its segment cannot be read
  kCatchingUp = 7,      // the leader lacks decided slots that it must know before it goes on
  kNoCandidate = 8,     // no replica is up that could be the acceptor
  kVoters = 9,          // Multi-Paxos: the leader has no majority of the voters
  kParticipantDead = 10,  // 2PC: a participant is dead: no write commits without it
  kCoordinatorDead = 11,  // 2PC: the coordinator is dead: what it had prepared stays in doubt
  kLeaderSilent = 12,     // requests wait for the leader, which does not answer
  kLeaderDead = 13,       // the leader is dead and not replaced
  kSegmentUnread = 14,    // what a dead replica stored is needed, and is not read yet
  kNoRoom = 15,           // commands wait until a segment has room
  kLoading = 16,          // this replica loads the state, and knows too little before
  kSteppedDown = 17,      // the leader has made way for a successor that it does not hear from
  kSegmentsKept = 18,     // commands wait until a snapshot releases segments of ended incarnations
  kUnexplained = 19,      // commands wait at the leader for no cause that it knows: a bug
};

// A clause for the operator, such as "the acceptor does not answer, and ...". Empty for kNo.
std::string_view text_of(Blocked why);

// A clause that says what ends it: "it ends when ...". Empty for kNo.
std::string_view end_of(Blocked why);

struct AgreementStatus {
  Role role = Role::kReplica;
  EndpointId leader;    // as known on this replica
  EndpointId acceptor;  // likewise; the leader itself in protocols without one
  Epoch epoch;
  Ballot ballot;
  Slot proposed;  // next slot to propose (leader) or vote for; slots below it were proposed
  Slot decided;   // slots below it are decided here, contiguously
  Blocked why = Blocked::kNo;  // what the next decision waits for now, mostly for a moment; kNo: nothing is to decide
  ReplicaSet blocked_by;  // replicas whose answer, or return, would end that; empty: no particular one
  // Operators are told. Agreement sets it where waiting cannot help; the replica's core, once it has lasted for long.
  bool blocked = false;
  std::uint64_t blocked_ms = 0;  // for how long nothing was decided; 0: unknown
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

// A clause for the operator: why, which slots wait, for how long no slot was decided, and what ends it. Empty unless
// blocked. All texts about blocked replicas come from here.
std::string describe_blocked(const AgreementStatus& status);

// The same, with the replicas that are waited for, if there are any: "waits for replica 2: ...".
std::string explain_blocked(const AgreementStatus& status);

// As a sentence about the replica whose status it is: "replica 1 is blocked: it waits for replica 2: ...".
std::string blocked_sentence(EndpointId replica, const AgreementStatus& status);

// "replica 2", "replicas 0, 2".
std::string name_replicas(ReplicaSet replicas);

}  // namespace ingot::replication_agreement
