// Moves the leader's or the acceptor's role to another replica.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "proto/ingot/control/v1/control.pb.h"
#include "replication/client/replica_client.h"

namespace ingot::inline services_control {

namespace control_v1 = ::ingot::control::v1;

// Asks the replica that must begin the change: the future leader itself or, for the acceptor's role, the leader. A
// voter that has the role keeps it, and the answer says so. Calls `done` once, from the client's thread or before this
// returns. Errors: INVALID_ARGUMENT and FAILED_PRECONDITION, with a sentence; UNAVAILABLE if there was no answer, so
// that the move may or may not have begun. Thread-safe; `client` must outlive the call of `done`.
void move_role(ReplicaClient& client, const control_v1::MoveRequest& request,
               const control_v1::GetStatusResponse& status,
               std::function<void(const absl::StatusOr<control_v1::MoveResponse>&)> done);

}  // namespace ingot::services_control
