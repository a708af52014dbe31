// The bounds of supervision, and what happens at them.
#pragma once

namespace ingot {

// A process that has ended is started again at once, then after kRestartDelayFirstMs, then after twice as long, up to
// kRestartDelayMaxMs. A process that has lived for kRestartForgetMs is started again at once after its next end.
inline constexpr int kRestartDelayFirstMs = 100;
inline constexpr int kRestartDelayMaxMs = 5'000;
inline constexpr int kRestartForgetMs = 2'000;

// The delay before a restart of a replica without which the other voters are a majority. On shared cores its start
// would take milliseconds from the replicas that replace a leader or an acceptor, and from those that must start for
// that.
inline constexpr int kFailoverFirstMs = 10;

// How often the supervisor checks whether adopted processes are stopped: the kernel reports stops only to the parent.
inline constexpr int kStoppedPollMs = 250;

// How long a new supervisor waits for the answer of a process that is not stopped. It asks a process that has not yet
// seen the end of its old supervisor kOrphanTries times, every kOrphanTryMs.
inline constexpr int kOrphanAnswerMs = 5'000;
inline constexpr int kOrphanTries = 20;
inline constexpr int kOrphanTryMs = 50;

}  // namespace ingot
