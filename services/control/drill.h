// Whom a drill hits: decided from the status and from what the kernel says of each process, before anything is sent.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/ingot/control/v1/control.pb.h"
#include "services/control/fault_injector.h"

namespace ingot {

namespace control_v1 = ::ingot::control::v1;

// The processes that `request` means by the roles in `status`, where a role that a stopped replica still claims counts
// less than a running one's, but for CONT. Errors, each a sentence: FAILED_PRECONDITION (there is no such process now, it
// is in that condition already, or it is a thread), INVALID_ARGUMENT (there never is).
absl::StatusOr<std::vector<control_v1::Hit>> choose_targets(const control_v1::DrillRequest& request,
                                                         const control_v1::GetStatusResponse& status,
                                                         absl::FunctionRef<ProcessCondition(const control_v1::Hit&)> condition);

// SIGKILL, SIGSTOP or SIGCONT. REQUIRES: a drill that choose_targets took.
int signal_of(control_v1::DrillRequest::Action action);

}  // namespace ingot
