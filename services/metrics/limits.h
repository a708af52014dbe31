// The bound of request metrics, and what happens when it is reached.
#pragma once

namespace ingot {

inline constexpr int kRequestMetricShards = 8;     // sets of request counters; more threads share them, which is slower

}  // namespace ingot
