// Statuses whose roles move.
#pragma once

#include <cstdint>

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot {

namespace control_v1 = ::ingot::control::v1;

// Three replicas; 0 leads, 1 accepts, ballot 5.
inline control_v1::GetStatusResponse group() {
  control_v1::GetStatusResponse status;
  for (std::uint32_t id : {0u, 1u, 2u}) {
    auto& replica = *status.add_replicas();
    replica.set_id(id);
    replica.set_pid(100 + id);
    replica.set_incarnation(1);
    replica.set_state(control_v1::STATE_UP);
    replica.set_epoch(1);
    replica.set_ballot(5);
    replica.set_role(control_v1::ROLE_REPLICA);
  }
  status.mutable_replicas(0)->set_role(control_v1::ROLE_LEADER);
  status.mutable_replicas(1)->set_role(control_v1::ROLE_ACCEPTOR);
  return status;
}

// Gives the role to this replica alone, in the configuration of this ballot.
inline void give(control_v1::GetStatusResponse& status, int id, control_v1::Role role, std::uint64_t ballot) {
  for (auto& replica : *status.mutable_replicas()) {
    if (replica.role() == role) replica.set_role(control_v1::ROLE_REPLICA);
  }
  status.mutable_replicas(id)->set_role(role);
  status.mutable_replicas(id)->set_ballot(ballot);
}

}  // namespace ingot
