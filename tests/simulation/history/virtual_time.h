// Time in a simulated group: nanoseconds since its start. A span without events costs nothing to simulate.
#pragma once

#include <cstdint>

namespace ingot::simulation {

using TimeNs = std::uint64_t;

inline constexpr TimeNs kNever = ~TimeNs{0};
inline constexpr TimeNs kUs = 1'000;
inline constexpr TimeNs kMs = 1'000 * kUs;
inline constexpr TimeNs kSecond = 1'000 * kMs;

}  // namespace ingot::simulation
