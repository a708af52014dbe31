// Time limits for the end of processes.
#pragma once

namespace ingot {

inline constexpr int kDrainTimeoutMs = 10'000;  // for children to leave after SIGTERM; then they are killed

}  // namespace ingot
