// Runs a program of the user's while a verb holds something for it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/ingotctl/interruption.h"

namespace ingot::inline services_ingotctl {

// Runs the program that the first word names, found as a shell finds it, with the further words as its arguments, and
// `environment` ("NAME=VALUE") before this process's own. Waits for its end. Signals to this process alone are passed
// on to it. Returns its exit code; of one that a signal has ended 128 and the signal, as shells do. Errors:
// INVALID_ARGUMENT (no such program).
absl::StatusOr<int> run_held(const std::vector<std::string>& words, std::vector<std::string> environment,
                             Interruption& interruption);

// Of the last program that was run, for the end of this process; 0: none, or it has succeeded.
int held_exit_code();

}  // namespace ingot::services_ingotctl
