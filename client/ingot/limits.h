// Bounds of libingot, and what happens at them.
#pragma once

#include <cstdint>

namespace ingot::inline client_ingot {

// A view's connection for waits and for the age is made anew no sooner than so long after it was made last; plus up to
// the jitter, so that thousands of readers which lose their publisher at the same instant do not come back at the same
// instant.
inline constexpr std::int64_t kConnectAgainNs = 1'000'000'000;
inline constexpr std::int64_t kConnectJitterNs = 500'000'000;

// Times that callers give are cut to this, which is 31 years: in nanoseconds they can be added.
inline constexpr std::int64_t kTimeoutMsMax = 1'000'000'000'000;

// While a view is opened, the library looks so often whether its instance has refused it.
inline constexpr std::int64_t kOpenSliceMs = 5;

// While the age that a read demands is not known, or too high, the library looks after its connection so often.
inline constexpr std::int64_t kAgeSliceMs = 10;

// A wait that was told of a change gives the view so long to show it.
inline constexpr std::int64_t kEndedWaitMs = 50;

}  // namespace ingot::client_ingot
