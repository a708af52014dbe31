// The leader and the acceptor that the configuration log names as of one of its entries.
#pragma once

#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/one_paxos/config_entry.h"

namespace ingot::inline replication_agreement_one_paxos {

// Entry 1, the same on all replicas: AcceptorChange(leader 0, acceptor 1, base 0), of their first incarnations. In a
// group with one voter, that voter is also the acceptor. Leader and acceptor are voters.
inline ConfigEntry initial_entry(const GroupConfig& group) {
  const ReplicaIncarnation first{EndpointId(0), Incarnation(1)};
  const ReplicaIncarnation second{EndpointId(1), Incarnation(1)};
  return {ConfigEntry::Kind::kAcceptorChange, first, group.voters > 1 ? second : first, Slot(0), Slot(0), {}};
}

inline ReplicaIncarnation name_of_self(const GroupConfig& group) { return {group.self, group.incarnation}; }

}  // namespace ingot::replication_agreement_one_paxos
