// The bounds of every process of an instance.
#pragma once

namespace ingot::inline services_launch {

inline constexpr int kDrainTimeoutMs = 10'000;  // for children to leave after SIGTERM; then they are killed

// Open files for which the kernel's table of a process that serves has room from its start, if its limit is not lower; 8
// bytes of the kernel's memory each.
inline constexpr unsigned kDescriptorTableMax = 64 * 1024;

// Threads of the front end for which there must be room before gRPC starts, which ends the process if it cannot start
// one: its own, and gRPC's, which grow with the machine's cores.
inline constexpr int kFrontEndTasks = 16;
inline constexpr int kFrontEndTasksPerCore = 2;

}  // namespace ingot::services_launch
