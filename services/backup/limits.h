// Bounds of backups, with their units, and what happens when they are reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline services_backup {

// Backups that are sent at a time, to the clients of one listener (TCP, Unix socket) together, and only one of them to
// each address or user; another call is RESOURCE_EXHAUSTED. Each may keep one former snapshot in memory, which the
// instance needs no longer. The listeners are counted apart, so that strangers cannot lock out the users of the socket.
inline constexpr int kBackupsPerDoorMax = 2;
// The time from one wish for a snapshot to the next wish by the same listener: so many times as long as the last
// snapshot took, within these bounds. A further call waits until it may wish, at most until kBackupWaitMs are over. So
// a client that calls without end has replicas write snapshots for a tenth of the time, and strangers do not hold up
// the users of the socket. The upper bound leaves a call that has waited enough time for its snapshot.
inline constexpr std::int64_t kBackupIntervalFactor = 10;
inline constexpr std::int64_t kBackupIntervalMs = 1'000;
inline constexpr std::int64_t kBackupIntervalMsMax = 120'000;
// Of the file in one message; a stream holds one and a half at most.
inline constexpr std::size_t kBackupPartBytes = 64 * 1024;
// A call is cancelled if its client takes no part for so long: otherwise the client would keep others out, and a
// snapshot in memory.
inline constexpr std::int64_t kBackupStillMs = 30'000;
// A client has so long for the whole file, and a second more for each kBackupBytesPerS; then its call is cancelled.
// Otherwise a client that takes a part now and then would keep others out for days.
inline constexpr std::int64_t kBackupSendMs = 60'000;
inline constexpr std::int64_t kBackupBytesPerS = 1024 * 1024;
// From the call to a published snapshot; then the call is UNAVAILABLE. Some 1 s is needed for each GiB of state.
inline constexpr std::int64_t kBackupWaitMs = 180'000;
inline constexpr std::int64_t kBackupLookMs = 20;      // between two checks for that snapshot
inline constexpr std::int64_t kBackupWatchMs = 1'000;  // between two checks whether a client reads

}  // namespace ingot::services_backup
