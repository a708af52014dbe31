// A status of two replicas; replica 0 leads, 1 is the acceptor.
#pragma once

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot {

namespace control_v1 = ::ingot::control::v1;

inline control_v1::GetStatusResponse example() {
  control_v1::GetStatusResponse status;
  auto& instance = *status.mutable_instance();
  instance.set_name("ingot-2379");
  instance.set_agreement("1paxos");
  instance.set_transport("nvp");
  instance.set_backend("shm");
  instance.set_isolation("process");
  for (std::uint32_t id : {0u, 1u}) {
    auto& replica = *status.add_replicas();
    replica.set_id(id);
    replica.set_pid(100 + id);
    replica.set_incarnation(1);
    replica.set_state(control_v1::STATE_UP);
    replica.set_core(id);
    replica.set_voter(true);
    replica.set_role(id == 0 ? control_v1::ROLE_LEADER : control_v1::ROLE_ACCEPTOR);
    replica.set_epoch(2);
    replica.set_ballot(3);
    replica.set_proposed(9);
    replica.set_decided(8);
    replica.set_applied(8 - id);
    replica.set_lag(id);
  }
  return status;
}

}  // namespace ingot
