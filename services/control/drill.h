// Chooses the processes that a drill hits, from the status and the kernel's view of each process, before any signal.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/ingot/control/v1/control.pb.h"
#include "services/control/fault_injector.h"

namespace ingot::inline services_control {

namespace control_v1 = ::ingot::control::v1;

// The target processes of `request`, by the roles in `status`. If several replicas claim a role, a running one is
// preferred to a stopped one; for CONT it is the reverse. Errors, each a sentence: FAILED_PRECONDITION (no such process
// now, it is in the requested condition already, or it is a thread), INVALID_ARGUMENT (such a process cannot exist).
absl::StatusOr<std::vector<control_v1::Hit>> choose_targets(
    const control_v1::DrillRequest& request, const control_v1::GetStatusResponse& status,
    absl::FunctionRef<ProcessCondition(const control_v1::Hit&)> condition);

// SIGKILL, SIGSTOP or SIGCONT. REQUIRES: a drill that choose_targets accepted.
int signal_of(control_v1::DrillRequest::Action action);

}  // namespace ingot::services_control
