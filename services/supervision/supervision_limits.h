// The bounds of supervision, and what happens at them.
#pragma once

#include <cstdint>

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

// The pause before messages that the kernel has refused, though the socket has room, are sent again.
inline constexpr int kSendRetryMs = 50;

// How often the supervisor asks the front end whether it answers requests. --front-end-timeout says how long it may be
// silent; each kill doubles that for the next one, up to kFrontEndTimeoutMsMax, until none has been silent for longer
// than the flag's time for kFrontEndCalmMs.
inline constexpr std::int64_t kFrontEndAskMs = 1'000;
inline constexpr std::int64_t kFrontEndTimeoutMsMax = 300'000;
inline constexpr std::int64_t kFrontEndCalmMs = 600'000;

// How often the supervisor touches the instance's trace. What empties folders by age does so after days.
inline constexpr int kTraceTouchMs = 3'600'000;

// How often the supervisor checks whether adopted processes are stopped: the kernel reports stops only to the parent.
inline constexpr int kStoppedPollMs = 250;

// How long a process must have run since its last stop for the next stop to be a reason to doubt it. So if a process is
// stopped and continued again and again, only its first stop moves a role; later ones do so by its silence alone.
inline constexpr int kStutterMs = 10'000;

// How long no replica must have run before the log says so.
inline constexpr int kStandstillMs = 1'000;

// How long a new supervisor waits for the answer of a process that is not stopped. It asks a process that has not yet
// seen the end of its old supervisor kOrphanTries times, every kOrphanTryMs.
inline constexpr int kOrphanAnswerMs = 5'000;
inline constexpr int kOrphanTries = 20;
inline constexpr int kOrphanTryMs = 50;

// How long a new supervisor goes on connecting to processes of an instance whose queues are full, all of them together.
// Another user may fill them again and again; a process that runs empties its queue every few milliseconds.
inline constexpr int kOrphanConnectMs = 10'000;

inline constexpr std::uint64_t kMib = 1024 * 1024;

// Open files that there must be room for at the start, besides those that the instance begins with: of one process, as
// standard streams, channels, event loops, gRPC, files of /proc that are read; of stable segments of earlier
// incarnations; of clients' connections.
inline constexpr int kOwnDescriptors = 64;
inline constexpr int kEarlierSegments = 4;  // of each replica that has been started again
inline constexpr int kClientDescriptorsMin = 64;

// Threads and processes that there must be room for at the start. A replica: its loop, death watch, reaper, and at
// times the writer and the reader of a snapshot.
inline constexpr int kReplicaTasks = 5;
inline constexpr int kStandbyTasks = 1;

// Automatic compaction by age: how often the store's revision is noted, at least and at most. By number: how often it
// is due.
inline constexpr std::int64_t kRevisionSampleMsMin = 100;
inline constexpr std::int64_t kRevisionSampleMsMax = 360'000;
inline constexpr std::int64_t kRevisionCompactionMs = 10'000;

// What the default quota (services/supervision/default_quota.h) leaves room for. A replica's memory is at most about
// kCopyOverhead times what is counted of its store, and one more copy than replicas is there while a restarted replica
// loads, a dead one's memory is freed, or a child writes a snapshot of a state that changes. Beside them are
// kSnapshotsAtOnce snapshots, each at most as large as what is counted: the published one, the next one, and one that a
// peer receives. kProcessesBytes is for the front end, the supervisor, the standby process, inboxes and code.
inline constexpr double kCopyOverhead = 1.3;
inline constexpr int kSnapshotsAtOnce = 3;
inline constexpr std::uint64_t kProcessesBytes = 256 * kMib;
// A default quota outside of these bounds is moved to the nearer one.
inline constexpr std::int64_t kQuotaDefaultBytesMin = 16 * 1024 * 1024;
inline constexpr std::int64_t kQuotaDefaultBytesMax = std::int64_t{32} * 1024 * 1024 * 1024;

// Failed claims of a supervisor's name whose connections wait at its socket; later ones no longer see whose it is.
inline constexpr int kClaimsWaitingMax = 1024;

}  // namespace ingot
