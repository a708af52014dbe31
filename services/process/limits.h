// Bounds of processes and their end, with their units, and what happens at them.
#pragma once

namespace ingot {

inline constexpr int kDrainTimeoutMs = 10'000;  // for children to leave on SIGTERM; then they are killed

}  // namespace ingot
