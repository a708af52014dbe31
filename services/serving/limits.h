// Bounds of serving, and what happens when one is reached.
#pragma once

namespace ingot::inline services_serving {

// When an instance ends and clients keep calls open: for what those calls are told to reach the clients.
inline constexpr int kLastAnswersMs = 500;
inline constexpr int kDrainedPollMs = 2;  // between two checks whether the loops have drained

// How often the front end checks whether an automatic compaction is due.
inline constexpr long kCompactionLookMs = 500;

}  // namespace ingot::services_serving
