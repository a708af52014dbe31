// Bounds of backups, with their units, and what happens when they are reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline services_backup {

// Backups that are sent at a time, to the clients of one door (TCP, Unix socket) together, and only one of them to each
// address or user; another call is RESOURCE_EXHAUSTED. Each may keep one former snapshot in memory, which the instance
// needs no longer. The doors are counted apart, so that strangers cannot lock out the users of the socket.
inline constexpr int kBackupsPerDoorMax = 2;
// From one wish for a snapshot to the next one of the same door: so many times as long as the last snapshot took,
// within these bounds. A further call waits for its turn, until kBackupWaitMs are over. So who calls without end has
// replicas write snapshots for a tenth of the time, and strangers do not hold up the users of the socket. The upper
// bound leaves a call that waits for its turn the time for its snapshot.
inline constexpr std::int64_t kBackupIntervalFactor = 10;
inline constexpr std::int64_t kBackupIntervalMs = 1'000;
inline constexpr std::int64_t kBackupIntervalMsMax = 120'000;
inline constexpr std::size_t kBackupPartBytes = 64 * 1024;  // of the file in one message; a stream holds one at a time
// A client that takes no part for so long has its call cancelled: else it would keep a place and a snapshot.
inline constexpr std::int64_t kBackupStillMs = 30'000;
// A client has so long for the whole file, and a second more for each kBackupBytesPerS; then its call is cancelled:
// else one that takes a part now and then would keep its place for days.
inline constexpr std::int64_t kBackupSendMs = 60'000;
inline constexpr std::int64_t kBackupBytesPerS = 1024 * 1024;
// From the call to a published snapshot; then the call is UNAVAILABLE. Some 1 s is needed for each GiB of state.
inline constexpr std::int64_t kBackupWaitMs = 180'000;
inline constexpr std::int64_t kBackupLookMs = 20;      // between two looks for that snapshot
inline constexpr std::int64_t kBackupWatchMs = 1'000;  // between two looks whether a client reads

}  // namespace ingot::services_backup
