// What an instance must have room for, and its other bounds.
#pragma once

#include <cstdint>

namespace ingot::inline services_instance {

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
inline constexpr int kPublisherTasks = 1;

// What the default quota (services/instance/default_quota.h) leaves room for. A replica's memory is at most about
// kCopyOverhead times what is counted of its store, and one more copy than replicas is there while a restarted replica
// loads, a dead one's memory is freed, or a child writes a snapshot of a state that changes. Beside them are
// kSnapshotsAtOnce snapshots, each at most as large as what is counted: the published one, the next one, and one that a
// peer receives; with --view=always the view's generations, of which there are two while one is made. kProcessesBytes
// is for the front end, the supervisor, the standby process, inboxes and code.
inline constexpr double kCopyOverhead = 1.3;
inline constexpr int kSnapshotsAtOnce = 3;
inline constexpr std::uint64_t kGenerationsAtOnce = 2;  // of a view, with --view=always
inline constexpr std::uint64_t kProcessesBytes = 256 * kMib;
// A default quota outside of these bounds is moved to the nearer one.
inline constexpr std::int64_t kQuotaDefaultBytesMin = 16 * 1024 * 1024;
inline constexpr std::int64_t kQuotaDefaultBytesMax = std::int64_t{32} * 1024 * 1024 * 1024;

// Failed claims of a supervisor's name whose connections wait at its socket; later ones no longer see whose it is.
inline constexpr int kClaimsWaitingMax = 1024;

// How often a name is claimed anew whose supervisor has ended while a child of it still holds its socket.
inline constexpr int kClaimTries = 100;
inline constexpr int kClaimTryMs = 50;

}  // namespace ingot::services_instance
