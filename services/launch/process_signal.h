// Signals to processes of an instance. A signal never reaches another process that has got the pid of one that ended.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/status.h"
#include "replication/pages/pages.h"

namespace ingot::inline services_launch {

// The state letter of proc(5), for example 'R', 'S' or 'T'; 0: there is no such process, or this process has no
// descriptor left to look.
char process_state(pid_t pid);

// The process's start time, in kernel ticks since boot; 0: there is no such process, or this process has no descriptor
// left to look. A pid may be reused, but never
// with the same start time, so both together name one process.
std::uint64_t process_start(pid_t pid);

enum class ProcessCondition { kRunning, kStopped, kGone };  // kGone: ended, whether or not its parent has waited for it

// The process's condition in the kernel now; the supervisor may notice it later. kGone if `pid` is not positive.
ProcessCondition condition_of(pid_t pid);

// The same of the process that started at `started`: kGone, too, if another one has its pid now. If `started` is 0, which
// means that it is not known, that of the process with this pid: it may be that one. kRunning if this process has no
// descriptor left to look closer.
ProcessCondition condition_of(pid_t pid, std::uint64_t started);

// Sends the signal to process `pid` if its start time is `started`. Errors: NOT_FOUND (that process has ended, even if
// another one has its pid now), PERMISSION_DENIED (the kernel does not allow the signal), UNAVAILABLE (any other error
// of the kernel).
absl::Status send_signal(pid_t pid, std::uint64_t started, int signal);

// Sends the signal to the process of a DaemonPage's entry if the entry is of that incarnation. If the supervisor has
// died, the entry is as old as its death. Errors: as above; NOT_FOUND also if the entry is of another incarnation.
absl::Status send_signal(const ProcessEntry& entry, std::uint64_t incarnation, int signal);

}  // namespace ingot::services_launch
