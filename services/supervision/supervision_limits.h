// The bounds of supervision, and what happens at them.
#pragma once

namespace ingot {

// A process that has ended is started again at once, then after this long, then after twice as long, and so on. One
// that has lived long enough is believed to be well: the next time it is started again at once.
inline constexpr int kRestartDelayFirstMs = 100;
inline constexpr int kRestartDelayMaxMs = 5'000;
inline constexpr int kRestartForgetMs = 2'000;

// A replica that the others can do without is started again this much later than at once: on cores that it shares with
// them its start would take milliseconds from those who are naming another leader or acceptor, or who must start for
// that.
inline constexpr int kFailoverFirstMs = 10;

// How often it is looked whether processes that somebody else started are stopped: the kernel tells only their parent.
inline constexpr int kStoppedPollMs = 250;

// How long a new supervisor waits for the answer of a process that is not stopped, and how often it asks one that has
// not seen yet that its old supervisor is gone.
inline constexpr int kOrphanAnswerMs = 5'000;
inline constexpr int kOrphanTries = 20;
inline constexpr int kOrphanTryMs = 50;

}  // namespace ingot
