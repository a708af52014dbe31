// The replicas' Role and the control API's: the same enumerators, after proto3's "unspecified".
#pragma once

#include "proto/ingot/control/v1/control.pb.h"
#include "replication/agreement/status.h"

namespace ingot::inline services_status {

namespace control_v1 = ::ingot::control::v1;

constexpr control_v1::Role to_control(Role role) {
  return static_cast<control_v1::Role>(static_cast<int>(role) + control_v1::ROLE_REPLICA);
}

static_assert(to_control(Role::kReplica) == control_v1::ROLE_REPLICA);
static_assert(to_control(Role::kLeader) == control_v1::ROLE_LEADER);
static_assert(to_control(Role::kAcceptor) == control_v1::ROLE_ACCEPTOR);

}  // namespace ingot::services_status
