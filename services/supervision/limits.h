// The bounds of supervision, and what happens at them.
#pragma once

#include <cstdint>

namespace ingot::inline services_supervision {

// A process that has ended is started again at once, then after kRestartDelayFirstMs, then after twice as long, up to
// kRestartDelayMaxMs. A process that has lived for kRestartForgetMs is started again at once after its next end.
inline constexpr int kRestartDelayFirstMs = 100;
inline constexpr int kRestartDelayMaxMs = 5'000;
inline constexpr int kRestartForgetMs = 2'000;

// The delay before a restart of a replica without which the other voters are a majority. On shared cores its start
// would take milliseconds from the replicas that replace a leader or an acceptor, and from those that must start for
// that.
inline constexpr int kFailoverFirstMs = 10;

// The pause before messages that the kernel has refused, though the socket has room, are sent again.
inline constexpr int kSendRetryMs = 50;

// How often the supervisor asks the front end whether it answers requests. --front-end-timeout says how long it may be
// silent; each kill doubles that for the next one, up to kFrontEndTimeoutMsMax, until none has been silent for longer
// than the flag's time for kFrontEndCalmMs.
inline constexpr std::int64_t kFrontEndAskMs = 1'000;
inline constexpr std::int64_t kFrontEndTimeoutMsMax = 300'000;
inline constexpr std::int64_t kFrontEndCalmMs = 600'000;

// A publisher of the view that answers nothing for so long, or is stopped, is killed; as above, each kill doubles that.
// It is counted in the supervisor's questions.
inline constexpr std::int64_t kPublisherTimeoutMs = 5'000;

// How often the supervisor touches the instance's trace. What empties folders by age does so after days.
inline constexpr int kTraceTouchMs = 3'600'000;

// How often the supervisor checks whether adopted processes are stopped: the kernel reports stops only to the parent.
inline constexpr int kStoppedPollMs = 250;

// How long a process must have run since its last stop for the next stop to be a reason to doubt it. So if a process is
// stopped and continued again and again, only its first stop moves a role; later ones do so by its silence alone.
inline constexpr int kStutterMs = 10'000;

// How long no replica must have run before the log says so.
inline constexpr int kStandstillMs = 1'000;

// Automatic compaction by age: how often the store's revision is noted, at least and at most. By number: how often it
// is due.
inline constexpr std::int64_t kRevisionSampleMsMin = 100;
inline constexpr std::int64_t kRevisionSampleMsMax = 360'000;
inline constexpr std::int64_t kRevisionCompactionMs = 10'000;

}  // namespace ingot::services_supervision
