// Room for threads and processes: the user's limit (RLIMIT_NPROC) and that of the control group (pids.max) count both.
#pragma once

#include "absl/status/status.h"

namespace ingot::inline services_launch {

// Starts `count` threads that do nothing, and ends them: libraries that cannot start a thread end the process without a
// sentence. The room may be gone a moment later. Thread-safe. Errors: FAILED_PRECONDITION with a sentence.
absl::Status check_room_for_tasks(int count);

// Threads that a front end with so many loops needs on this machine.
int front_end_tasks(int loops);

// From now on the end of this process by std::terminate is preceded by one line on standard error. When the cause is a
// lack of threads or memory, the process then exits with code 1, else it aborts. `process`: for the line; a literal.
void explain_terminate(const char* process);

}  // namespace ingot::services_launch
