// Signals to processes of an instance, sent so that they never hit a stranger who got the number of one that ended.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/status.h"
#include "replication/pages/pages.h"

namespace ingot {

// 'R', 'S', 'T' and so on, as proc(5) has it; 0: there is no such process.
char process_state(pid_t pid);

// When it began, in the kernel's ticks since boot; 0: there is no such process. No other process has, had or will have this
// number and this time.
std::uint64_t process_start(pid_t pid);

enum class ProcessCondition { kRunning, kStopped, kGone };  // kGone: ended, whether or not its parent has noticed

// As the kernel says now, whatever the supervisor has had time to notice. Also kGone for what is no pid.
ProcessCondition condition_of(pid_t pid);

// To the process that began at `started`. Errors: NOT_FOUND (it has ended, whoever has its number now), PERMISSION_DENIED,
// UNAVAILABLE.
absl::Status send_signal(pid_t pid, std::uint64_t started, int signal);

// Only if the page shows the incarnation `incarnation`; the page may be as old as the death of the supervisor. Errors: as above.
absl::Status send_signal(const ProcessEntry& entry, std::uint64_t incarnation, int signal);

}  // namespace ingot
