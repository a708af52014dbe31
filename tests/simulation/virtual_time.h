// Time in a simulated group: nanoseconds since its start. It costs nothing unless something happens in it.
#pragma once

#include <cstdint>

namespace ingot::simulation {

using TimeNs = std::uint64_t;

inline constexpr TimeNs kNever = ~TimeNs{0};
inline constexpr TimeNs kUs = 1'000;
inline constexpr TimeNs kMs = 1'000 * kUs;
inline constexpr TimeNs kSecond = 1'000 * kMs;

}  // namespace ingot::simulation
