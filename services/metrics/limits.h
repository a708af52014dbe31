// The bound of request metrics, with its unit, and what happens at it.
#pragma once

namespace ingot {

inline constexpr int kRequestMetricShards = 8;     // sets of request counters; more threads share them, which is slower

}  // namespace ingot
