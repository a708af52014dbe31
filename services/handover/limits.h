// The bounds of taking an instance over, and what happens at them.
#pragma once

namespace ingot::inline services_handover {

// How long a new supervisor waits for the answer of a process that is not stopped. It asks a process that has not yet
// seen the end of its old supervisor kOrphanTries times, every kOrphanTryMs.
inline constexpr int kOrphanAnswerMs = 5'000;
inline constexpr int kOrphanTries = 20;
inline constexpr int kOrphanTryMs = 50;

// How long a new supervisor goes on connecting to processes of an instance whose queues are full, all of them together.
// Another user may fill them again and again; a process that runs empties its queue every few milliseconds.
inline constexpr int kOrphanConnectMs = 10'000;

// The pause before an orphan that has no descriptor left for a supervisor's connection tries again.
inline constexpr int kAcceptRetryMs = 100;

}  // namespace ingot::services_handover
